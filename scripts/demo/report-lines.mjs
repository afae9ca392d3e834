// Lines that the reports of both demos share.

/** Returns an estimate of a share in percent, with its standard error. */
export const percent = ({ mean, stderr }) => `${(100 * mean).toFixed(1)} ± ${(100 * (stderr ?? 0)).toFixed(1)} %`

/** Puts a plus before a difference that is not negative. @param text  the difference */
export const signed = (text) => (text.startsWith('-') ? text : `+${text}`)

/** Returns one task before and after training. @param played  see one-task.mjs; undefined: there is none */
export const taskLines = (played, versions) =>
  played === undefined
    ? ['No held-out task was failed before and solved after.']
    : [
        'One held-out task that version 0 fails:',
        ...played.before.map((line) => `  ${line}`),
        `The same task, solved by version ${versions}:`,
        ...played.after.map((line) => `  ${line}`),
      ]

/** Returns whether the goal is reached, and its conditions. @param goal  see gate.mjs */
export const goalLines = (goal) => [
  `goal ${isReached(goal) ? 'reached' : 'missed'}:`,
  ...goal.map(({ met, text }) => `  ${met ? 'yes' : 'no '}  ${text}`),
]

/** @param goal  see gate.mjs */
export const isReached = (goal) => goal.every(({ met }) => met)
