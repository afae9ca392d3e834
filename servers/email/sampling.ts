/** Of several texts to search for, the first with one hit, or else the first with few, or else the last. */
export function fewHits(texts: readonly string[], hits: (text: string) => number): string | undefined {
  const counts = texts.map(hits)
  const single = counts.indexOf(1)
  const few = single >= 0 ? single : counts.findIndex((count) => count > 0 && count <= 3)
  return texts.at(few)
}
