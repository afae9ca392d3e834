import { runGroup } from '../../../rollout/episode/index.js'
import { GROUP_SIZE, LIMITS_OF_RUN } from '../arena-run.js'
import { ENOUGH_TOKENS, groupAttack } from '../group-attack.js'

export const noAdapter = groupAttack({
  name: 'no-adapter',
  about: 'samples from the bare base model',
  provable: false,
  places: ['5', '6'],
  codes: ['logprob_mismatch', 'sampler_mismatch', 'implausible_end'],
  tokens: ENOUGH_TOKENS,
  async make(arena, { task, seed }, _, signal) {
    const engine = await arena.engine(null, signal)
    return { rollouts: await runGroup(task, GROUP_SIZE, seed, engine, arena.runtime, LIMITS_OF_RUN, signal) }
  },
})
