import * as assert from 'uvu/assert'
import type { LogitErrorSums } from '../../rollout/verification/logit-error-sums.js'
import { type GroupStatistics, measureGroup, type SampledToken } from '../../rollout/verification/sampled-token.js'
import { seededRandom } from '../../servers/kernel/index.js'

export function near(value: number, expected: number, slack: number): void {
  assert.ok(Math.abs(value - expected) <= slack * Math.max(1, Math.abs(expected)), `${value} is not ${expected}`)
}

/** What an audit says of a group whose tokens are just what its draws select. */
export const NO_LOGIT_ERRORS: LogitErrorSums = {
  ...{ tokens: 600, logitError: 0, expected: 0.001, odds: [0, 0, 0, 0] },
  ...{ betterLogitError: 0, betterExpectedMismatch: 0.5 },
}

/** What a node does to its tokens; without any of it, it is honest. */
export interface Cheat {
  /** Nats that every claim is above the truth. */
  readonly lift?: number
  /** Share of the open choices that other draws decided. */
  readonly otherDraws?: number
  /** Tokens of arguments that were replaced. */
  readonly edits?: number
}

/**
 * A group of `length` sampled tokens as an f16 engine makes them: most are near certain, one in six is a real choice. Claims
 * are off by logits that are a few thousandths of a nat off; near ties sometimes miss their draw by as little.
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
