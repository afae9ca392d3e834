import { createHash } from 'node:crypto'

/**
 * Chooses cases of a category by a seed: those with the smallest SHA-256 of seed and id. A larger number adds cases to those of a smaller one,
 * so that answers stay useful.
 * @param ids  all cases of the category
 * @param limit  most cases; undefined: all
 * @returns  the chosen ids, in the order of `ids`
 */
export function chooseCases(ids: readonly string[], limit: number | undefined, seed: number): string[] {
  if (limit === undefined || limit >= ids.length) return [...ids]
  const key = (id: string): string => createHash('sha256').update(`${seed}/${id}`).digest('hex')
  const chosen = new Set(
    ids
      .map((id) => ({ id, key: key(id) }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .slice(0, limit)
      .map(({ id }) => id),
  )
  return ids.filter((id) => chosen.has(id))
}
