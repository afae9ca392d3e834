import { gateOf } from './gate.mjs'

const percent = ({ mean, stderr }) => `${(100 * mean).toFixed(1)} ± ${(100 * (stderr ?? 0)).toFixed(1)} %`
const signed = ({ mean, stderr }) => `${mean < 0 ? '' : '+'}${percent({ mean, stderr })}`

/** Returns the figures of the gate: the policy `trained` compared with `warm`, at temperature 0. */
export function greedyOf(evaluation) {
  const [warm, trained] = ['warm', 'trained'].map((label) => evaluation.policies.find((one) => one.label === label))
  return {
    n: trained.overall.n,
    solvedBefore: warm.overall.greedy.solved.mean,
    solvedAfter: trained.overall.greedy.solved.mean,
    solvedDiffStderr: pairedOf(evaluation).stderr ?? 0,
    callsBefore: warm.overall.greedy.calls.mean,
    callsAfter: trained.overall.greedy.calls.mean,
    callsReference: trained.overall.callsReference,
  }
}

/** Returns the paired difference of `trained` from `warm` in tasks solved at temperature 0. */
const pairedOf = (evaluation) =>
  evaluation.policies.find(({ label }) => label === 'trained').overall.difference.greedy.solved

/**
 * Returns the report of the demo with a published model.
 * @param summary      content of summary.json
 * @param evaluations  `known` and `hardlyKnown`: objects of `prove-lab eval --json` with the policies warm (the first), trained and base
 * @param played       one task before and after training, see one-task.mjs
 */
export function realReportOf({ groups, versions, environments }, { known, hardlyKnown }, played) {
  const row = (cells) => `  ${cells.map((cell, i) => String(cell).padEnd(i === 0 ? 22 : 19)).join('')}`.trimEnd()
  const tableOf = (evaluation) => {
    const k = `pass@${evaluation.sampling.samples}`
    return [
      row(['', 'greedy', 'temperature 1', k, 'calls, greedy']),
      ...evaluation.policies.map(({ label, overall: { greedy, sampled } }) =>
        row([
          label === 'trained' ? `version ${versions}` : label === 'warm' ? 'version 0 (warm)' : label,
          percent(greedy.solved),
          percent(sampled.solved),
          percent(sampled[k]),
          greedy.calls.mean.toFixed(2),
        ]),
      ),
      row([
        'difference',
        signed(pairedOf(evaluation)),
        '',
        '',
        `reference ${evaluation.policies[0].overall.callsReference.toFixed(2)}`,
      ]),
    ]
  }
  const gate = gateOf(greedyOf(hardlyKnown), greedyOf(known))
  return [
    'Held-out tasks solved exactly (± standard error over tasks); difference of the last version from version 0',
    '',
    `${environments.hardlyKnown.join(', ')}, of which version 0 saw few demonstrations: ${hardlyKnown.tasks} tasks`,
    ...tableOf(hardlyKnown),
    '',
    `${environments.known.join(', ')}, which version 0 knew: ${known.tasks} tasks`,
    ...tableOf(known),
    '',
    ...(played === undefined
      ? ['No held-out task was failed before and solved after.']
      : [
          'One held-out task that version 0 fails:',
          ...played.before.map((line) => `  ${line}`),
          `The same task, solved by version ${versions}:`,
          ...played.after.map((line) => `  ${line}`),
        ]),
    '',
    `goal ${gate.every(({ met }) => met) ? 'reached' : 'missed'}:`,
    ...gate.map(({ met, text }) => `  ${met ? 'yes' : 'no '}  ${text}`),
    '',
    `groups: ${groups.accepted} accepted, ${groups.refused} refused`,
    'adapter: .demo/adapter (PEFT directory and GGUF) · summary: .demo/summary.json',
  ].join('\n')
}
