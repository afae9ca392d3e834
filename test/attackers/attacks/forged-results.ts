import type { GroupBody, RecordedRollout } from '../../../proto/index.js'
import { groupAttack } from '../group-attack.js'
import { scriptedGroup } from '../scripted-group.js'

/** Changes of a rollout that made a call: the answer in the log, the answer's tokens, the world's state at the end. */
export const FORGED_RESULTS: readonly ((rollout: RecordedRollout) => RecordedRollout)[] = [
  (rollout) => ({
    ...rollout,
    calls: rollout.calls.map((call) => ({ ...call, resultJson: '{"status":"done"}' })),
  }),
  (rollout) => {
    const [prompt, turn] = rollout.maskRuns as [number, number]
    const answer = prompt + turn
    return { ...rollout, tokens: rollout.tokens.with(answer, rollout.tokens[answer]! + 1) }
  },
  (rollout) => ({ ...rollout, stateHash: '0'.repeat(64) }),
]

export const forgedResults = groupAttack({
  name: 'forged-results',
  about: 'changes results of tools, in the call log or in the tokens, or the final state',
  provable: true,
  places: ['3'],
  codes: ['replay_mismatch', 'environment_mismatch', 'state_mismatch'],
  async make(arena, work, i, signal) {
    const rollouts = await scriptedGroup(arena, work, signal)
    const index = rollouts.findIndex(({ calls }) => calls.length > 0)
    if (index < 0) return null
    const forge = FORGED_RESULTS[i % FORGED_RESULTS.length]!
    const body = (honest: GroupBody): GroupBody => ({
      ...honest,
      rollouts: honest.rollouts.with(index, forge(honest.rollouts[index]!)),
    })
    return { rollouts, forgery: { body } }
  },
})
