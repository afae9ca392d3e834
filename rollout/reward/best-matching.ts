/**
 * Finds the one-to-one matching of rows and columns with the greatest sum of weights, by the Hungarian method with potentials
 * (O(rows² columns)). The result is exact, so removing a column never increases the sum, as it may with a greedy matching.
 * @param weights  weight of each pair, above 0; `null`: the two must not be matched. All rows have the same length
 * @returns  the column of each row, or `null` for an unmatched row
 */
export function bestMatching(weights: readonly (readonly (number | null)[])[]): (number | null)[] {
  const rows = weights.length
  const real = weights[0]?.length ?? 0
  // Every row may also take an extra column of weight 0.
  const columns = real + rows
  const cost = (row: number, column: number): number => {
    if (column >= real) return 0
    return -(weights[row]![column] ?? 0)
  }
  const rowPotential = new Array<number>(rows).fill(0)
  const columnPotential = new Array<number>(columns + 1).fill(0)
  /** The row matched to each column; the last column has the row that is being placed. */
  const heldBy = new Array<number>(columns + 1).fill(-1)
  for (let row = 0; row < rows; row++) {
    const cheapest = new Array<number>(columns).fill(Number.POSITIVE_INFINITY)
    const before = new Array<number>(columns).fill(columns)
    const seen = new Array<boolean>(columns + 1).fill(false)
    heldBy[columns] = row
    let column = columns
    do {
      seen[column] = true
      const from = heldBy[column]!
      let step = Number.POSITIVE_INFINITY
      let next = -1
      for (let to = 0; to < columns; to++) {
        if (seen[to]) continue
        const reduced = cost(from, to) - rowPotential[from]! - columnPotential[to]!
        if (reduced < cheapest[to]!) {
          cheapest[to] = reduced
          before[to] = column
        }
        if (cheapest[to]! < step) {
          step = cheapest[to]!
          next = to
        }
      }
      for (let to = 0; to <= columns; to++) {
        if (seen[to]) {
          rowPotential[heldBy[to]!]! += step
          columnPotential[to]! -= step
        } else if (to < columns) cheapest[to]! -= step
      }
      column = next
    } while (heldBy[column] !== -1)
    while (column !== columns) {
      const previous = before[column]!
      heldBy[column] = heldBy[previous]!
      column = previous
    }
  }
  const columnOf = new Array<number | null>(rows).fill(null)
  heldBy.slice(0, real).forEach((row, column) => {
    if (row !== -1 && weights[row]![column] !== null) columnOf[row] = column
  })
  return columnOf
}
