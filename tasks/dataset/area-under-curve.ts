/**
 * Returns the area under the ROC curve: the share of all pairs in which the positive value is the larger one, where equal values count
 * half (Mann and Whitney 1947). It is computed from ranks, in O(n log n).
 * @returns  0 to 1; 0.5 if the values do not separate the two kinds, NaN if one of them is empty
 */
export function areaUnderCurve(positives: readonly number[], negatives: readonly number[]): number {
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
  return (ranks - (positives.length * (positives.length + 1)) / 2) / (positives.length * negatives.length)
}
