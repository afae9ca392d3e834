import { ENOUGH_TOKENS, groupAttack } from '../group-attack.js'

export const reorderedRollouts = groupAttack({
  name: 'reordered-rollouts',
  about: 'delivers an honest group in another order than the lease’s',
  provable: false,
  places: ['6'],
  codes: ['sampler_mismatch'],
  tokens: ENOUGH_TOKENS,
  async make(arena, work, _, signal) {
    const rollouts = await arena.rollouts(work, signal)
    const said = new Set(rollouts.map(({ tokens }) => tokens.join()))
    // Equal rollouts can change places without anybody being wronged.
    return said.size > rollouts.length / 2 ? { rollouts: [...rollouts.slice(1), rollouts[0]!] } : null
  },
})
