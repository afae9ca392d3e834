import type { Rollout } from '../../../rollout/episode/index.js'
import { runGroup } from '../../../rollout/episode/index.js'
import { GROUP_SIZE, LIMITS_OF_RUN } from '../arena-run.js'
import { openCheatEngine } from '../cheat-engine.js'
import { ENOUGH_TOKENS, groupAttack } from '../group-attack.js'

export const greedyDecoding = groupAttack({
  name: 'greedy-decoding',
  about: 'takes the most probable token each time, in all rollouts but one',
  provable: false,
  // Another group may have said the same by its own draws: this one is a copy then, by what its audit shows.
  places: ['4', '5', '6'],
  codes: ['logprob_mismatch', 'sampler_mismatch', 'implausible_end', 'duplicate'],
  tokens: ENOUGH_TOKENS,
  async make(arena, work, _, signal) {
    const honest = await arena.rollouts(work, signal)
    const engine = await openCheatEngine({
      modelPath: arena.run.model,
      adapter: work.policy.adapter.path,
      slots: 1,
      contextSize: LIMITS_OF_RUN.maxRolloutTokens,
      temperature: 0,
    })
    let greedy: Rollout
    try {
      greedy = (await runGroup(work.task, 1, work.seed, engine, arena.runtime, LIMITS_OF_RUN, signal))[0]!
    } finally {
      await engine.close()
    }
    // Greedy decoding says the same in every rollout, so one engine pass is enough for all of them.
    const other = honest.find(({ reward }) => reward.total !== greedy.reward.total)
    return other ? { rollouts: [other, ...Array.from({ length: GROUP_SIZE - 1 }, () => greedy)] } : null
  },
})
