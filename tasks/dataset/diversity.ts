import { deriveSeed, seededRandom } from '../../servers/kernel/index.js'

/** How varied a set of texts is. Computed on samples of fixed size, so that sets of different sizes compare. */
export interface Diversity {
  /** Different words, pairs and triples of words, each as a share of the first 8,000 of a sample. */
  readonly distinct1: number
  readonly distinct2: number
  readonly distinct3: number
  /** Mean Jaccard similarity of the word pairs of two texts: 0 shares nothing, 1 is the same. */
  readonly selfSimilarity: number
  readonly meanWords: number
  /** Share of the texts that begin with the most frequent three words. */
  readonly openings: number
}

/** Texts that are looked at. */
const SAMPLE = 1000
/** N-grams that are counted. Of more, or of longer texts, a smaller share would be different by itself. */
const GRAMS = 8000
/** Pairs of texts that are compared. */
const PAIRS = 4000

/**
 * Measures of a set of texts; all zeros for none. Words are runs of letters, digits and the marks inside them, in lower
 * case. The same texts in the same order give the same numbers.
 */
export function diversity(texts: readonly string[]): Diversity {
  const random = seededRandom(deriveSeed('diversity', texts.length))
  const sample = random.sample(texts, SAMPLE).map(wordsOf)
  const pairs = sample.map((words) => new Set(gramsOf(words, 2)))
  const compared = sample.length < 2 ? 0 : PAIRS
  let similarity = 0
  for (let i = 0; i < compared; i++) {
    const a = random.int(0, pairs.length - 1)
    const step = random.int(1, pairs.length - 1)
    similarity += jaccard(pairs[a]!, pairs[(a + step) % pairs.length]!)
  }
  const openings = countsOf(sample.map((words) => words.slice(0, 3).join(' ')))
  return {
    distinct1: distinct(sample, 1, GRAMS),
    distinct2: distinct(sample, 2, GRAMS),
    distinct3: distinct(sample, 3, GRAMS),
    selfSimilarity: similarity / Math.max(compared, 1),
    meanWords: sample.reduce((sum, words) => sum + words.length, 0) / Math.max(sample.length, 1),
    openings: Math.max(0, ...openings.values()) / Math.max(sample.length, 1),
  }
}

export const wordsOf = (text: string): string[] =>
  text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’.:/@_-][\p{L}\p{N}]+)*/gu) ?? []

export const gramsOf = (words: readonly string[], n: number): string[] =>
  words.slice(n - 1).map((_, i) => words.slice(i, i + n).join(' '))

/**
 * Returns the different runs of `n` words as a share of the first `most`. No run continues from one text into the next.
 * Returns 0 if the texts have no runs.
 */
export function distinct(texts: readonly (readonly string[])[], n: number, most?: number): number {
  const grams = texts.flatMap((words) => gramsOf(words, n)).slice(0, most)
  return grams.length === 0 ? 0 : new Set(grams).size / grams.length
}

/** Returns the Jaccard similarity of two sets. */
export function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((item) => b.has(item)).length
  return shared === 0 ? 0 : shared / (a.size + b.size - shared)
}

/** How often each occurs. */
export function countsOf(items: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return counts
}
