import { GROUP_SIZE, LIMITS_OF_RUN } from '../arena-run.js'
import { ENOUGH_TOKENS, groupAttack } from '../group-attack.js'
import { cherryPick } from '../group-cheats.js'

export const bestOfN = groupAttack({
  name: 'best-of-n',
  about: 'samples each rollout four times and delivers the best',
  provable: false,
  places: ['4', '5', '6'],
  codes: ['duplicate', 'logprob_mismatch', 'sampler_mismatch', 'implausible_end'],
  tokens: ENOUGH_TOKENS,
  async make(arena, { task, seed, policy }, _, signal) {
    const engine = await arena.engine(policy, signal)
    const setting = { runtime: arena.runtime, limits: LIMITS_OF_RUN, engine, signal }
    return { rollouts: await cherryPick(task, GROUP_SIZE, seed, setting) }
  },
})
