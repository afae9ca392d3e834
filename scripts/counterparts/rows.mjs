// The rows of the suite `counterparts`: which real program runs against which interface, in which version. From them come the jobs of the
// suite, the table of the documentation, and the look-out for newer versions.
import { readFileSync } from 'node:fs'
import { root } from '../processes.mjs'

export const ROWS_FILE = `${root}test/counterparts/rows.json`

/**
 * Reads the rows. Fields: `name`; `title`; `interface`, ours; `packages`, pinned as pip reads them, or `npm`, names in package.json;
 * `python`, the oldest version; `torch`, whether the environment uses the trainer's; `pip`, further options; `what` is run; `unseen`,
 * the faults that the program cannot send; `when`: `commit` or `nightly`; `minutes` and `megabytes` of the installation; `tested`, the date of the newest
 * success in these versions.
 */
export const readRows = () => JSON.parse(readFileSync(ROWS_FILE, 'utf8'))

const { dependencies, devDependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

/** Returns the names and versions of a row's programs. */
export const versionsOf = ({ packages = [], npm = [] }) => [
  ...packages.map((pin) => pin.split('==')),
  ...npm.map((name) => [name, devDependencies[name] ?? dependencies[name]]),
]

const HEAD = '| counterpart | our interface | what runs | tested |'

/** Returns the table of the documentation. */
export function describeRows(rows) {
  const lines = rows.map((row) => {
    const versions = versionsOf(row).map(([name, version]) => `\`${name}\` ${version}`)
    const nightly = row.when === 'nightly' ? '. Nightly' : ''
    return `| ${row.title}: ${versions.join(', ')} | ${row.interface} | ${row.what}${row.unseen ? `. ${row.unseen}` : ''}${nightly} | ${row.tested ?? 'not yet'} |`
  })
  return [HEAD, '| --- | --- | --- | --- |', ...lines].join('\n')
}

const BEGIN = '<!-- counterparts -->'
const END = '<!-- /counterparts -->'

/** Returns a document with the table of the rows between its two marks. */
export function withRows(text, rows) {
  const [before, after] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (before === -1 || after < before) throw new Error(`the document has no place for the table: ${BEGIN} … ${END}`)
  return `${text.slice(0, before + BEGIN.length)}\n${describeRows(rows)}\n${text.slice(after)}`
}

/** The documents with the table. */
export const DOCUMENTS = ['prove-worlds/README.md']
