/**
 * A stretch of an utterance. Words may be retyped in a person's manner; what is fixed is a value or a name, which must
 * stand exactly as it is.
 */
export interface Piece {
  readonly text: string
  readonly fixed: boolean
  /** Index of the ask, and its field, whose value the text gives. */
  readonly gives?: { readonly ask: number; readonly field: string }
  /** The text is the label by which an entity is meant. */
  readonly label?: true
}

export const word = (text: string): Piece => ({ text, fixed: false })
export const fixed = (text: string): Piece => ({ text, fixed: true })

export const textOf = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join('')

/** Joins neighbouring words, so that patterns can look across what was put together. */
export function joined(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = []
  for (const piece of pieces) {
    const last = out.at(-1)
    if (piece.text === '') continue
    if (last && !last.fixed && !piece.fixed) out[out.length - 1] = word(last.text + piece.text)
    else out.push(piece)
  }
  return out
}
