import * as assert from 'uvu/assert'
import type { LogitErrorSums } from '../../rollout/verification/logit-error-sums.js'
import { type GroupStatistics, measureGroup, type SampledToken } from '../../rollout/verification/sampled-token.js'
import { seededRandom } from '../../servers/kernel/index.js'

export function near(value: number, expected: number, slack: number): void {
  assert.ok(Math.abs(value - expected) <= slack * Math.max(1, Math.abs(expected)), `${value} is not ${expected}`)
}

/** Audit findings for a group whose tokens are exactly those that its noise selects. */
export const NO_LOGIT_ERRORS: LogitErrorSums = {
  ...{ tokens: 600, logitError: 0, expected: 0.001, odds: [0, 0, 0, 0] },
  ...{ betterLogitError: 0, betterExpectedMismatch: 0.5 },
}

/** Manipulations by a node. A node without any is honest. */
export interface Cheat {
  /** Nats by which every claimed log-probability exceeds the true one. */
  readonly lift?: number
  /** Share of the uncertain choices that other noise decided. */
  readonly otherDraws?: number
  /** Number of replaced tokens of arguments. */
  readonly edits?: number
}

/**
 * Returns a group of `length` sampled tokens with the errors of an f16 engine. Most tokens are near certain, one in six is a real
 * choice. Claimed log-probabilities are off by a few thousandths of a nat, and near ties sometimes miss their noise by as little.
 */
export function syntheticGroup(seed: number, length = 600, cheat: Cheat = {}): GroupStatistics {
  const random = seededRandom(seed)
  const unit = (): number => random.int(0, 999_999) / 1e6
  const noise = (): number => 0.003 * (unit() + unit() + unit() - 1.5)
  let edits = cheat.edits ?? 0
  const tokens = Array.from({ length }, (_, i): SampledToken => {
    const open = random.chance(1 / 6)
    const top = open ? 0.4 + 0.5 * unit() : 1 - 1e-4 * unit()
    const second = 1 - top
    const first = random.chance(top)
    const p = first ? top : second
    const argument = i % 2 === 0
    const edited = argument && edits > 0
    if (edited) edits--
    const missed = edited || (open && random.chance(cheat.otherDraws ?? 0) && random.chance(2 * top * second))
    const logp = edited ? -6 : Math.log(p)
    return {
      claimed: Math.min(0, logp + noise() * (1 - p) + (cheat.lift ?? 0)),
      logp,
      expectedMismatch: 2 * top * second,
      logitError: missed ? 0.3 + unit() : open && random.chance(0.005) ? 0.002 * unit() : 0,
      argument,
      end: i % 75 === 74,
    }
  })
  return measureGroup(tokens)
}
