import { countsOf, distinct, gramsOf, wordsOf } from '../../tasks/dataset/diversity.js'
import { itemAt, valueAt } from '../../tasks/synthesis/item-at.js'

/** How texts repeat one another, in measures that are published of other corpora. */
export interface WordSpread {
  /** Words that were looked at: whole texts in their order until there are enough. */
  readonly words: number
  /** Different pairs and triples of words, as a share of all; neither runs from one text into the next. */
  readonly distinct2: number
  readonly distinct3: number
  /** Mean BLEU-4 of a text against all others (Zhu et al., arXiv 1802.01886): 0 shares nothing, 1 is the same. */
  readonly selfBleu4: number
}

/** Longest run of words that is compared. */
const ORDER = 4
/** Stands for no match at all, as in the first smoothing of Chen and Cherry (2014): one zero would make the whole product zero. */
const UNMATCHED = 0.1

/** Of the first `size` words of texts, for both measures depend on how many there are. */
export function wordSpread(texts: readonly string[], size: number): WordSpread {
  const taken: string[][] = []
  let words = 0
  for (const text of texts) {
    if (words >= size) break
    const own = wordsOf(text)
    taken.push(own)
    words += own.length
  }
  const orders = Array.from({ length: ORDER }, (_, i) => matchesIn(taken, i + 1))
  const long = taken.map((_, i) => i).filter((i) => itemAt(taken, i).length >= ORDER)
  // All others together are longer than any text, and one of about its length is among them: no penalty for brevity.
  const bleu = (i: number): number => Math.exp(orders.reduce((sum, matches) => sum + Math.log(matches(i)), 0) / ORDER)
  return {
    words,
    distinct2: distinct(taken, 2),
    distinct3: distinct(taken, 3),
    selfBleu4: long.length < 2 ? 0 : long.reduce((sum, i) => sum + bleu(i), 0) / long.length,
  }
}

/** The share of a text's runs that occur in one of the other texts as often. */
function matchesIn(texts: readonly (readonly string[])[], order: number): (text: number) => number {
  const counts = texts.map((words) => countsOf(gramsOf(words, order)))
  const most = new Map<string, { readonly count: number; readonly text: number; next: number }>()
  for (const [text, own] of counts.entries()) {
    for (const [gram, count] of own) {
      const best = most.get(gram)
      if (!best) most.set(gram, { count, text, next: 0 })
      else if (count > best.count) most.set(gram, { count, text, next: best.count })
      else best.next = Math.max(best.next, count)
    }
  }
  return (text) => {
    let [matched, all] = [0, 0]
    for (const [gram, count] of itemAt(counts, text)) {
      const best = valueAt(most, gram)
      matched += Math.min(count, best.text === text ? best.next : best.count)
      all += count
    }
    return Math.max(matched, UNMATCHED) / all
  }
}
