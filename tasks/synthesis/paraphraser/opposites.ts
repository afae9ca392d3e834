/** Actions and states that are each other's opposites, by the beginnings of their words. */
const OPPOSITES: readonly (readonly [string, string])[] = [
  ['add(?:s|ed|ing)?', 'remov(?:e|es|ed|ing)|delet(?:e|es|ed|ing)|drop(?:s|ped|ping)?'],
  ['open(?:s|ed|ing)?', 'clos(?:e|es|ed|ing)|shut(?:s|ting)?'],
  ['lock(?:s|ed|ing)?', 'unlock(?:s|ed|ing)?'],
  ['freez(?:e|es|ing)|froze|frozen', 'unfreez(?:e|es|ing)|unfroze|unfrozen'],
  ['block(?:s|ed|ing)?', 'unblock(?:s|ed|ing)?'],
  ['(?:switch|turn)(?:es|s|ed|ing)?(?: \\S+){0,5} on', '(?:switch|turn)(?:es|s|ed|ing)?(?: \\S+){0,5} off'],
  ['start(?:s|ed|ing)?|begin(?:s|ning)?', 'stop(?:s|ped|ping)?|end(?:s|ed|ing)?'],
  ['follow(?:s|ed|ing)?', 'unfollow(?:s|ed|ing)?'],
  ['pin(?:s|ned|ning)?', 'unpin(?:s|ned|ning)?'],
  ['mut(?:e|es|ed|ing)', 'unmut(?:e|es|ed|ing)'],
  ['archiv(?:e|es|ed|ing)', 'unarchiv(?:e|es|ed|ing)'],
  ['enabl(?:e|es|ed|ing)|activat(?:e|es|ed|ing)', 'disabl(?:e|es|ed|ing)|deactivat(?:e|es|ed|ing)'],
  ['accept(?:s|ed|ing)?|approv(?:e|es|ed|ing)', 'declin(?:e|es|ed|ing)|reject(?:s|ed|ing)?|refus(?:e|es|ed|ing)'],
  ['increas(?:e|es|ed|ing)|rais(?:e|es|ed|ing)', 'decreas(?:e|es|ed|ing)|lower(?:s|ed|ing)?|reduc(?:e|es|ed|ing)'],
  ['buy(?:s|ing)?|bought', 'sell(?:s|ing)?|sold'],
  ['join(?:s|ed|ing)?', 'leav(?:e|es|ing)|left'],
  ['deposit(?:s|ed|ing)?', 'withdraw(?:s|ing)?|withdrew|withdrawn'],
  ['book(?:s|ed|ing)?|reserv(?:e|es|ed|ing)', 'cancel(?:s|led|ling|ed|ing)?'],
  ['publish(?:es|ed|ing)?', 'unpublish(?:es|ed|ing)?'],
  ['encrypt(?:s|ed|ing)?', 'decrypt(?:s|ed|ing)?'],
  ['connect(?:s|ed|ing)?', 'disconnect(?:s|ed|ing)?'],
]

const PAIRS = OPPOSITES.map(([one, other]) => [word(one), word(other)] as const)

function word(pattern: string): RegExp {
  return new RegExp(`(?<![\\p{L}-])(?:${pattern})(?![\\p{L}-])`, 'iu')
}

/**
 * Finds words with which a text says the opposite of its draft. The draft has one side of a pair alone, and the text has the other and not
 * this one. Where a draft has both sides, or neither, the text passes: other words than these may say the same.
 * @returns the words of the text, or `undefined`
 */
export function invertedIn(text: string, draft: string): string | undefined {
  for (const [one, other] of PAIRS) {
    for (const [said, opposite] of [[one, other] as const, [other, one] as const]) {
      if (!said.test(draft) || opposite.test(draft) || said.test(text)) continue
      const found = opposite.exec(text)
      if (found) return found[0]
    }
  }
  return undefined
}

/** Words that give the direction of a value, and those of the opposite one. */
const DIRECTIONS: readonly (readonly [RegExp, RegExp])[] = [
  [/^(from)$/, /^(to|into|onto)$/],
  [/^(under|below|less|most|cheaper)$/, /^(over|above|more|least|exceeding)$/],
  [/^(before|until|by)$/, /^(after|since)$/],
]
const REACH = 4

/** The nearest word before `at`, in its sentence, that gives a direction: `from`, `under`, `before` and their opposites. */
export function directionAt(text: string, at: number): string | undefined {
  const [sentence = ''] = text
    .slice(0, at)
    .split(/[.!?;\n]\s/)
    .slice(-1)
  const words = sentence.toLowerCase().match(/[\p{L}']+/gu) ?? []
  return words.slice(-REACH).findLast((word) => DIRECTIONS.some((pair) => pair.some((side) => side.test(word))))
}

/** Returns whether two words give opposite directions. */
export function areOpposite(one: string, other: string): boolean {
  return DIRECTIONS.some(([a, b]) => (a.test(one) && b.test(other)) || (b.test(one) && a.test(other)))
}
