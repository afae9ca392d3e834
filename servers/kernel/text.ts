/** A name as a key: `Ana Lima` -> `ana-lima`. Only Latin letters without accents and digits are kept. */
export function slug(name: string): string {
  return (name.toLowerCase().match(/[a-z0-9]+/g) ?? []).join('-')
}

/** The words of a text that are set apart by spaces or line breaks: for the vocabulary of a world. */
export function wordList(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}

/** A test whether every word of `query` occurs in a text that is in lower case. */
export function mentioning(query: string): (text: string) => boolean {
  // The longest word first: it is the one that fewest texts have.
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .sort((a, b) => b.length - a.length)
  return (text) => words.every((word) => text.includes(word))
}

/** Whether every word of `query` occurs in `text`, regardless of case: "lima" and "ana lima" occur in "Ana Lima". */
export function mentions(text: string, query: string): boolean {
  return mentioning(query)(text.toLowerCase())
}

/** As much of the beginning of a text as a result has room for, at most `most` characters with the dots. */
export function excerpt(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 3)}...`
}
