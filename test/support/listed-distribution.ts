import type { Distribution } from '../../rollout/engine/distribution.js'
import type { Token } from '../../rollout/engine/types.js'

/** A distribution with all logits in memory, read as llama.cpp's context returns them: scaled logits are float32. */
export function distributionOf(
  values: readonly number[],
  onLook: (what: 'near' | 'raised' | 'logit' | 'squares', tokens: number) => void = () => undefined,
): Distribution {
  const topLogit = Math.max(...values)
  const weight = (power: number): number => values.reduce((sum, logit) => sum + Math.exp(power * (logit - topLogit)), 0)
  return {
    ...{ top: values.indexOf(topLogit), topLogit, totalWeight: weight(1) },
    async near(reach, raised) {
      const sums = [...values]
      for (const [i, token] of (raised?.tokens ?? []).entries())
        sums[token] = Math.fround(sums[token]! + raised!.by[i]!)
      const least = Math.max(...sums) - reach
      const near = [...sums.entries()].filter(([, sum]) => sum >= least).sort(([, a], [, b]) => b - a)
      onLook(raised === undefined ? 'near' : 'raised', near.length)
      return near
    },
    async logitOf(token: Token) {
      onLook('logit', 1)
      return values[token]!
    },
    async squaredWeight() {
      onLook('squares', values.length)
      return weight(2)
    },
  }
}
