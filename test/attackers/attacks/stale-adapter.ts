import { ENOUGH_TOKENS, groupAttack } from '../group-attack.js'

export const staleAdapter = groupAttack({
  name: 'stale-adapter',
  about: 'continues with the adapter of the first version and claims the newest',
  provable: false,
  places: ['5', '6'],
  codes: ['logprob_mismatch', 'sampler_mismatch', 'implausible_end'],
  tokens: ENOUGH_TOKENS,
  async make(arena, work, _, signal) {
    const [first] = arena.policies.seen
    // Before there is a second version nobody can be behind; honest groups bring it about.
    while (work.policy.policyId === first!.policyId && arena.state().publications.length < 2) {
      await arena.honest.deliver(await arena.honest.group(signal))
    }
    if (work.policy.policyId === first!.policyId) return null
    return { rollouts: await arena.rollouts({ ...work, policy: first! }, signal) }
  },
})
