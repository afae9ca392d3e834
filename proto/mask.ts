/**
 * Converts a loss mask to the lengths of its alternating runs, starting with mask 0.
 * @param mask  0 or 1 per token; starts with 0, because a rollout starts with its prompt
 */
export function toMaskRuns(mask: readonly (0 | 1)[]): number[] {
  const runs: number[] = []
  let current: 0 | 1 = 0
  let length = 0
  for (const bit of mask) {
    if (bit !== current) {
      runs.push(length)
      current = bit
      length = 0
    }
    length += 1
  }
  if (mask.length > 0) runs.push(length)
  return runs
}

/** Converts run lengths to a mask, the inverse of `toMaskRuns`: 0 or 1 per token. */
export function expandMask(runs: readonly number[]): Uint8Array {
  const mask = new Uint8Array(runs.reduce((total, length) => total + length, 0))
  let at = 0
  for (const [index, length] of runs.entries()) {
    if (index % 2 === 1) mask.fill(1, at, at + length)
    at += length
  }
  return mask
}

/** Returns the number of tokens of a mask, and the number of sampled tokens. */
export function maskLength(runs: readonly number[]): { readonly total: number; readonly sampled: number } {
  let total = 0
  let sampled = 0
  for (const [index, length] of runs.entries()) {
    total += length
    if (index % 2 === 1) sampled += length
  }
  return { total, sampled }
}
