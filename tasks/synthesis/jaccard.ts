/** Returns the Jaccard similarity of two sets. */
export const jaccard = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => {
  const shared = [...a].filter((trait) => b.has(trait)).length
  return shared === 0 ? 0 : shared / (a.size + b.size - shared)
}
