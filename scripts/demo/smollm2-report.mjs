import { gateOf } from './gate.mjs'
import { goalLines, percent, signed, taskLines } from './report-lines.mjs'

const GOAL = { gain: 0.1, standardErrors: 6, moreCalls: 0.1, knownLoss: 0.01 }

const overallOf = (evaluation, label) => evaluation.policies.find((policy) => policy.label === label)?.overall

/** Returns the figures of the goal: the policy `trained` compared with `warm`, at temperature 0. */
function goalFigures(evaluation) {
  const [warm, trained] = [overallOf(evaluation, 'warm'), overallOf(evaluation, 'trained')]
  return {
    solvedBefore: warm.greedy.solved.mean,
    solvedAfter: trained.greedy.solved.mean,
    solvedDiffStderr: trained.difference.greedy.solved.stderr ?? 0,
    callsAfter: trained.greedy.calls.mean,
    callsReference: trained.callsReference,
  }
}

/** Returns the conditions of the demo's goal, see gate.mjs. @param summary  see `reportOf` */
export const goalOf = ({ neverShown, shown }) => gateOf(GOAL, goalFigures(neverShown.greedy), goalFigures(shown.greedy))

/**
 * Returns the report of a run.
 * @param summary       content of summary.json. `neverShown` and `shown` have evaluations, objects of `prove-lab eval --json` with the policies
 *                      warm (the first) and trained: `greedy` of both, and `sampled` of the former. `neverShown.greedy` also has the policy base
 * @param environments  names of the `neverShown` and the `shown` environments
 * @param result        `goal`: the conditions of the goal. `played`: one task before and after training, see one-task.mjs
 */
export function reportOf({ groups, versions, seconds, neverShown, shown }, environments, { goal, played }) {
  const row = (cells) => `  ${cells.map((cell, i) => cell.padEnd(i === 0 ? 20 : 18)).join('')}`.trimEnd()
  const names = { base: 'base', warm: 'version 0 (warm)', trained: `version ${versions}` }
  const tableOf = ({ greedy, sampled }) => {
    const columns = [{ title: 'temperature 0', evaluation: greedy, sampling: 'greedy', measure: 'solved' }]
    if (sampled !== undefined) {
      const passAt = `pass@${sampled.sampling.samples}`
      columns.push({ title: 'temperature 1', evaluation: sampled, sampling: 'sampled', measure: 'solved' })
      columns.push({ title: passAt, evaluation: sampled, sampling: 'sampled', measure: passAt })
    }
    const rowOf = (label) => [
      names[label],
      ...columns.map(({ evaluation, sampling, measure }) => {
        const found = overallOf(evaluation, label)
        return found === undefined ? '' : percent(found[sampling][measure])
      }),
      overallOf(greedy, label).greedy.calls.mean.toFixed(2),
    ]
    const differences = columns.map(({ evaluation, sampling, measure }) =>
      signed(percent(overallOf(evaluation, 'trained').difference[sampling][measure])),
    )
    return [
      row(['', ...columns.map(({ title }) => title), 'calls per task']),
      ...Object.keys(names)
        .filter((label) => overallOf(greedy, label) !== undefined)
        .map((label) => row(rowOf(label))),
      row(['difference', ...differences, `reference ${overallOf(greedy, 'warm').callsReference.toFixed(2)}`]),
      `  ${greedy.tasks} tasks${sampled === undefined ? '' : ` at temperature 0, ${sampled.tasks} of them at temperature 1`}`,
    ]
  }
  return [
    'Held-out tasks solved exactly (± standard error over tasks)',
    '',
    `${environments.neverShown.join(', ')}: no demonstration in the warm start; the volunteers trained on it`,
    ...tableOf(neverShown),
    '',
    `${environments.shown.join(', ')}: demonstrated in the warm start; the volunteers did not train on them`,
    ...tableOf(shown),
    '',
    ...taskLines(played, versions),
    '',
    ...goalLines(goal),
    '',
    `groups: ${groups.accepted} accepted, ${groups.refused} refused · run: ${Math.round(seconds.run / 60)} min`,
  ].join('\n')
}
