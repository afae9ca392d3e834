import { groupAttack } from '../group-attack.js'
import { scriptedGroup } from '../scripted-group.js'

/** Needs no tokens to speak of: nothing that is written instead of sampled agrees with its claims or its draws. */
export const cannedText = groupAttack({
  name: 'canned-text',
  about: 'writes right answers instead of sampling, and claims high log-probabilities',
  provable: false,
  places: ['5', '6'],
  codes: ['logprob_mismatch', 'sampler_mismatch'],
  make: async (arena, work, _, signal) => ({ rollouts: await scriptedGroup(arena, work, signal) }),
})
