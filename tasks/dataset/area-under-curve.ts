/**
 * Counts the pairs of a positive and a negative value in which the positive one is greater, ties as halves (Mann-Whitney U). Takes
 * O(n log n) by ranks.
 */
export function orderedPairs(positives: readonly number[], negatives: readonly number[]): number {
  const all = [
    ...positives.map((value) => ({ value, isPositive: true })),
    ...negatives.map((value) => ({ value, isPositive: false })),
  ].sort((a, b) => a.value - b.value)
  let ranks = 0
  for (let from = 0; from < all.length; ) {
    let to = from
    while (to < all.length && all[to]!.value === all[from]!.value) to++
    const rank = (from + to + 1) / 2
    ranks += rank * all.slice(from, to).filter(({ isPositive }) => isPositive).length
    from = to
  }
  return ranks - (positives.length * (positives.length + 1)) / 2
}

/** Returns the area under the ROC curve: the share of ordered pairs, ties as halves. NaN if one list is empty. */
export const areaUnderCurve = (positives: readonly number[], negatives: readonly number[]): number =>
  orderedPairs(positives, negatives) / (positives.length * negatives.length)
