// The table of words to avoid in docs/reference/glossary.md, and the search for them in names and in text.

/**
 * @typedef {object} BannedWord
 * @property {readonly string[]} words  spellings, in lower case
 * @property {string} instead  what the glossary recommends
 * @property {boolean} inIdentifiers
 * @property {boolean} inText
 * @property {boolean} inHelp  the help of commands
 * @property {readonly string[]} allowed  folders (with a slash at the end) and exact names or phrases
 */

/**
 * Reads the table of words to avoid.
 * @param {string} glossary  text of docs/reference/glossary.md
 * @returns {BannedWord[]}
 * @throws Error if the table is missing or a row names no place where a program looks
 */
export function readBannedWords(glossary) {
  const table = glossary.split('| word | write instead | checked in | allowed |\n')[1]
  if (!table) throw new Error('docs/reference/glossary.md has no table of words to avoid')
  const rows = table.split('\n\n')[0].split('\n').slice(1)
  return rows.filter((row) => row.startsWith('| ')).map(readRow)
}

function readRow(row) {
  const [, words, instead, checked, allowed] = row.split('|').map((cell) => cell.trim())
  const places = checked.split(', ')
  const unknown = places.filter((place) => !['identifiers', 'text', 'help', 'nothing'].includes(place))
  if (unknown.length > 0)
    throw new Error(`docs/reference/glossary.md: no program checks ${unknown.join(', ')}, row ${words}`)
  return {
    words: codeSpansOf(words),
    instead,
    inIdentifiers: places.includes('identifiers'),
    inText: places.includes('text'),
    inHelp: places.includes('help'),
    allowed: codeSpansOf(allowed),
  }
}

const codeSpansOf = (cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, span]) => span)

/** Splits a name in camel case or snake case into its parts, in lower case. */
export const partsOf = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((part) => part !== '')

/**
 * Finds the banned words that are parts of a name.
 * @param {string} path  file of the name, from the root of the repository
 */
export function bannedInName(rules, path, name) {
  const parts = new Set(partsOf(name))
  return rules
    .filter(({ inIdentifiers, allowed }) => inIdentifiers && !allows(allowed, path) && !allowed.includes(name))
    .flatMap(({ words }) => words.filter((word) => parts.has(word)))
}

/**
 * Blanks generated tables, logs of measurements, which keep their wording, and the table that has to name banned words.
 * Lines keep their numbers.
 */
export const writtenPart = (markdown) =>
  markdown.replace(
    /<!-- (generated|measurements)\b[^>]*-->[\s\S]*?<!-- \/\1 -->|\| word \| write instead \|[\s\S]*?(?=\n\n|$)/g,
    (part) => part.replace(/[^\n]+/g, ''),
  )

/** Finds the banned words in a piece of text, with their places in it. */
export function bannedInText(rules, path, text) {
  return rules
    .filter(({ inText, allowed }) => inText && !allows(allowed, path))
    .flatMap(({ words, instead, allowed }) => {
      const phrases = allowed.filter((one) => !one.endsWith('/'))
      const rest = phrases.reduce((left, phrase) => blank(left, phrase), text)
      return words.flatMap((word) => placesOf(rest, word).map((index) => ({ word, instead, index })))
    })
}

const allows = (allowed, path) => allowed.some((one) => one.endsWith('/') && path.startsWith(one))
const escaped = (words) => words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
const blank = (text, phrase) =>
  text.replace(new RegExp(`\\b${escaped(phrase)}\\b`, 'gi'), (found) => ' '.repeat(found.length))
const placesOf = (text, word) =>
  [...text.matchAll(new RegExp(`\\b${escaped(word).replaceAll(' ', '\\s+')}\\b`, 'gi'))].map(({ index }) => index)
