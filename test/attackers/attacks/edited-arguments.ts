import { LIMITS_OF_RUN } from '../arena-run.js'
import { ENOUGH_TOKENS, groupAttack } from '../group-attack.js'
import { editArgument, trueClaims } from '../group-cheats.js'

export const editedArguments = groupAttack({
  name: 'edited-arguments',
  about: 'replaces one argument token in the group and continues honestly, with false or true claims',
  provable: false,
  places: ['5', '6'],
  codes: ['logprob_mismatch', 'sampler_mismatch', 'implausible_end'],
  tokens: ENOUGH_TOKENS,
  async make(arena, work, i, signal) {
    const { task, seed, policy, lease } = work
    const rollouts = await arena.rollouts(work, signal)
    const engine = await arena.engine(policy, signal)
    const group = { leaseId: lease.leaseId, leaseSeed: seed, rollouts }
    const setting = { runtime: arena.runtime, limits: LIMITS_OF_RUN, engine, signal }
    for (const index of rollouts.keys()) {
      const edited = (await editArgument(task, group, index, setting))?.rollout
      if (!edited) continue
      const claimed = i % 2 === 0 ? edited : { ...edited, logprobs: await trueClaims(engine, edited, signal) }
      return { rollouts: rollouts.with(index, claimed) }
    }
    return null
  },
})
