import type { RecordedRollout } from '../../../proto/index.js'
import { groupAttack } from '../group-attack.js'
import { scriptedGroup } from '../scripted-group.js'

/** One token is another one; one is left out; the mask calls the end of the prompt sampled. */
const FORGERIES: readonly ((rollout: RecordedRollout) => RecordedRollout)[] = [
  (rollout) => ({ ...rollout, tokens: rollout.tokens.with(20, rollout.tokens[20]! + 1) }),
  (rollout) => ({
    ...rollout,
    tokens: rollout.tokens.toSpliced(20, 1),
    maskRuns: rollout.maskRuns.with(0, rollout.maskRuns[0]! - 1),
  }),
  (rollout) => ({
    ...rollout,
    maskRuns: rollout.maskRuns.with(0, rollout.maskRuns[0]! - 1).with(1, rollout.maskRuns[1]! + 1),
    logprobs: [-0.01, ...rollout.logprobs],
  }),
]

export const wrongPrompt = groupAttack({
  name: 'wrong-prompt',
  about: 'samples with another, easier or shorter prompt than the task’s',
  provable: true,
  places: ['2'],
  codes: ['prompt_mismatch'],
  make: async (arena, work, i, signal) => ({
    rollouts: await scriptedGroup(arena, work, signal),
    forgery: {
      body: (body) => ({ ...body, rollouts: body.rollouts.map(FORGERIES[i % FORGERIES.length]!) }),
    },
  }),
})
