import type { SeededRandom } from '../../../servers/kernel/index.js'

/** One item, with probability in proportion to its weight. */
export function drawWeighted<T>(weighted: readonly (readonly [item: T, weight: number])[], random: SeededRandom): T {
  const total = weighted.reduce((sum, [, weight]) => sum + weight, 0)
  let left = random.int(1, total)
  for (const [item, weight] of weighted) {
    left -= weight
    if (left <= 0) return item
  }
  throw new RangeError('nothing to draw from')
}
