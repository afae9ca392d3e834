import { groupAttack } from '../group-attack.js'
import { scriptedGroup } from '../scripted-group.js'

const float = (value: number): Buffer => Buffer.from(new Uint8Array(new Float32Array([value]).buffer))
/** Stands for the number to be replaced: the encoder itself refuses what the attack wants to send. */
const MARK = -0.0123456789
const POISONS: readonly number[] = [Number.NaN, 1, Number.NEGATIVE_INFINITY, -1e30]

export const poisonedNumbers = groupAttack({
  name: 'poisoned-numbers',
  about: 'claims a log-probability that is not a number, above 0, or out of range',
  provable: true,
  places: ['1'],
  codes: ['out_of_bounds', 'malformed'],
  async make(arena, work, i, signal) {
    const rollouts = await scriptedGroup(arena, work, signal)
    const marked = rollouts.map((rollout, k) =>
      k === 0 ? { ...rollout, logprobs: rollout.logprobs.with(0, MARK) } : rollout,
    )
    const bytes = (encoded: Uint8Array): Uint8Array => {
      const poisoned = Buffer.from(encoded)
      float(POISONS[i % POISONS.length]!).copy(poisoned, poisoned.indexOf(float(MARK)))
      return poisoned
    }
    return { rollouts: marked, forgery: { bytes } }
  },
})
