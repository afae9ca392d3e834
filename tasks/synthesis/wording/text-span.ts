/**
 * A stretch of an utterance. Words may be retyped in a person's manner; what is fixed is a value or a name, which must
 * stand exactly as it is.
 */
export interface TextSpan {
  readonly text: string
  readonly fixed: boolean
  /** Index of the ask, and its field, whose value the text gives. */
  readonly gives?: { readonly ask: number; readonly field: string }
  /** Index of the ask, and its field, whose value the text means without giving it. */
  readonly refers?: { readonly ask: number; readonly field: string }
  /** The text is the label by which an entity is meant. */
  readonly label?: true
}

export const word = (text: string): TextSpan => ({ text, fixed: false })

export const textOf = (spans: readonly TextSpan[]): string => spans.map(({ text }) => text).join('')

/** Joins neighbouring words, so that patterns can look across what was put together. */
export function joined(spans: readonly TextSpan[]): TextSpan[] {
  const out: TextSpan[] = []
  for (const span of spans) {
    const last = out.at(-1)
    if (span.text === '') continue
    const isSame = last?.refers?.ask === span.refers?.ask && last?.refers?.field === span.refers?.field
    if (last && !last.fixed && !span.fixed && isSame) out[out.length - 1] = { ...last, text: last.text + span.text }
    else out.push(span)
  }
  return out
}
