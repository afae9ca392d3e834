/** Limits of the questions to a scripted user. */
export const QUESTION_LIMITS = {
  /** Words of one question; synthesised ones have some twenty. */
  words: 40,
  wordChars: 40,
  /** Characters of one sentence that counts as a question; longer sentences only list everything that could be asked. */
  sentenceChars: 240,
  /** Characters of a message that are read: an assistant turn has fewer tokens. */
  messageChars: 8000,
  /** Number of times that the user asks back before giving up. */
  pleas: 2,
} as const

const ASKING =
  /\?|\b(?:tell me|let me know|give me|provide|specify|clarify|name the|i(?:['’]ll)? (?:still |just |only |also |would |will )*need|is missing|are missing|not clear|unclear|(?:i need|want) to know|please (?:say|state|choose|pick|share|enter|confirm|select|indicate|reply|answer))\b/
const CLOSING_QUESTION = /\b(?:anything|something|what|who) else\b|\bfurther (?:help|questions)\b/

/**
 * Returns whether an assistant's text asks for something that the user left out. For that, a sentence asks, and this or a neighbouring
 * sentence contains one of the words. The rule uses only letters, so that node and coordinator decide alike.
 * @param words  in lower case; the words of one entry must be adjacent
 */
export function asksFor(text: string, words: readonly string[]): boolean {
  const sentences = sentencesOf(text.slice(0, QUESTION_LIMITS.messageChars).toLowerCase())
  const wanted = words.map(normalized)
  return sentences.some((sentence, i) => {
    if (!ASKING.test(sentence) || CLOSING_QUESTION.test(sentence)) return false
    const near = sentences
      .slice(Math.max(0, i - 1), i + 2)
      .filter(({ length }) => length <= QUESTION_LIMITS.sentenceChars)
    return near.some((each) => {
      const said = normalized(each)
      return wanted.some((word) => said.includes(word))
    })
  })
}

const sentencesOf = (text: string): string[] => text.split(/(?<=[.?!]) |\n/)

/** Returns the words with spaces between, each without the `s` of a plural. */
const normalized = (text: string): string => ` ${(text.match(/[a-z0-9]+/g) ?? []).map(singular).join(' ')} `

const singular = (word: string): string => (word.length > 3 && !word.endsWith('ss') ? word.replace(/s$/, '') : word)
