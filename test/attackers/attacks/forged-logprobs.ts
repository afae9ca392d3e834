import { ENOUGH_TOKENS, groupAttack } from '../group-attack.js'

/** Each would turn the update: claims of rare tokens weigh most, those of sure ones nothing. */
const FORGERIES: readonly ((logprob: number, k: number, all: readonly number[]) => number)[] = [
  () => -0.05,
  (logprob) => logprob - 0.02,
  (_, k, all) => all[(k + 1) % all.length]!,
  (logprob) => (logprob > -0.5 ? -12 : logprob),
]

export const forgedLogprobs = groupAttack({
  name: 'forged-logprobs',
  about: 'samples honestly and claims other log-probabilities',
  provable: false,
  places: ['5'],
  codes: ['logprob_mismatch'],
  tokens: ENOUGH_TOKENS,
  async make(arena, work, i, signal) {
    const forge = FORGERIES[i % FORGERIES.length]!
    const rollouts = await arena.rollouts(work, signal)
    return { rollouts: rollouts.map((rollout) => ({ ...rollout, logprobs: rollout.logprobs.map(forge) })) }
  },
})
