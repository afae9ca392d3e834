/** Makes a key from a name: `Ana Lima` -> `ana-lima`. Only Latin letters without accents and digits are kept. */
export function slug(name: string): string {
  return (name.toLowerCase().match(/[a-z0-9]+/g) ?? []).join('-')
}

/** Splits a text at spaces and line breaks into the words of a vocabulary. */
export function wordList(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}

/** Returns a test whether every word of `query` occurs in a lower-case text. */
export function mentioning(query: string): (text: string) => boolean {
  // The longest word first: it is the one that fewest texts have.
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .sort((a, b) => b.length - a.length)
  return (text) => words.every((word) => text.includes(word))
}

/** Returns whether every word of `query` occurs in `text`, in any case: "lima" and "ana lima" occur in "Ana Lima". */
export function mentions(text: string, query: string): boolean {
  return mentioning(query)(text.toLowerCase())
}

/** Shortens a text for a result to at most `most` characters, including the dots. */
export function excerpt(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 3)}...`
}
