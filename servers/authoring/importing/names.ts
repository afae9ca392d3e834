import { IMPORT_LIMITS } from './limits.js'

/** Words of a name however it is written: `findPetsByStatus`, `find-pets by_status`, `HTTPServer`. */
export function wordsOf(text: string): string[] {
  return text
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
}

/** @returns a snake_case name that begins with a letter; `otherwise` where the text has none in it */
export function snakeName(text: string, otherwise: string): string {
  const words = wordsOf(text)
  while (words.length > 0 && !/^[a-z]/.test(words[0]!)) words.push(`n${words.shift()!}`)
  const name = words.join('_').slice(0, IMPORT_LIMITS.nameLength).replace(/_+$/, '')
  return name === '' ? otherwise : name
}

/** What is a word of Python, whose trainers pass arguments by name. JavaScript's own do not matter: names are quoted. */
const PYTHON = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return self try while with yield'.split(
    ' ',
  ),
)
const IDENTIFIER = /^[A-Za-z][A-Za-z0-9_]{0,59}$/

/** Comparisons in names of filters, such as `created<=`, in the words of other interfaces. */
const COMPARISONS: readonly (readonly [RegExp, string])[] = [
  [/<=|≤/g, ' lte '],
  [/>=|≥/g, ' gte '],
  [/</g, ' lt '],
  [/>/g, ' gt '],
]

/** Names for the fields of one object: as they are where programs in every language can say them, otherwise made so. */
export function fieldNames(names: Iterable<string>): Map<string, string> {
  const taken = new Set<string>()
  const made = (name: string): string => {
    const said = COMPARISONS.reduce((text, [mark, word]) => text.replaceAll(mark, word), name)
    const word = IDENTIFIER.test(name) ? name : snakeName(said, 'field')
    return PYTHON.has(word) ? `${word}_` : word
  }
  return new Map([...names].map((name) => [name, unused(made(name), taken)]))
}

/** Returns the name, or the name with the first number after it that makes it unique. Adds the result to `taken`. */
export function unused(name: string, taken: Set<string>): string {
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name}_${number}`
  taken.add(free)
  return free
}

/** Good enough for names that a person reads through. */
export function pluralOf(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`
  return /(s|x|z|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`
}

export function singularOf(noun: string): string {
  if (/ies$/.test(noun)) return `${noun.slice(0, -3)}y`
  if (/(ss|x|z|ch|sh)es$/.test(noun)) return noun.slice(0, -2)
  return /[^sui]s$/.test(noun) ? noun.slice(0, -1) : noun
}

/** One line of at most `most` characters, without what would end a comment or a clause. */
export function oneLine(text: string, most: number = IMPORT_LIMITS.descriptionLength): string {
  const line = text
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029\s]+/gu, ' ')
    .replaceAll('*/', '* /')
    .trim()
  return line.length <= most ? line : `${line.slice(0, most - 1).trimEnd()}…`
}
