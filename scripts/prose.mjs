// Checks the English of documents and code. Usage: node scripts/prose.mjs [--lengths] [FILE...]
// --lengths prints the lengths of the sentences of each file instead.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readBannedWords, writtenPart } from './prose/banned-words.mjs'
import { lintMarkdown } from './prose/lint-markdown.mjs'
import { readCode } from './prose/read-code.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (name) => readFileSync(root + name, 'utf8')
const settings = JSON.parse(read('scripts/prose/settings.json'))
const words = readBannedWords(read('docs/reference/glossary.md'))

const options = process.argv.slice(2)
const showsLengths = options.includes('--lengths')
const named = options.filter((option) => !option.startsWith('--'))

/** Files that Git tracks, or could track, and that match a pattern of Git. */
const filesOf = (patterns) =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...patterns], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((name) => name !== '')

const documents = filesOf(settings.documents).filter(
  (name) => !settings.exceptDocuments.some((path) => name.startsWith(path)),
)
const code = settings.code.flatMap((folder) => filesOf([`${folder}/*.ts`, `${folder}/*.mjs`]))

async function check(path) {
  const lengths = []
  const text = path.endsWith('.md') ? writtenPart(read(path)) : readCode(path, read(path))
  const count = (length) => lengths.push(length)
  const messages = await lintMarkdown(path, text, { max: settings.maxWordsInASentence, words, count })
  return { path, lengths: lengths.sort((a, b) => a - b), messages }
}

const results = await Promise.all((named.length > 0 ? named : [...documents, ...code]).map(check))
for (const { path, lengths, messages } of results) {
  if (showsLengths) {
    const over = lengths.filter((length) => length > settings.maxWordsInASentence).length
    const at = (share) => lengths[Math.floor(share * (lengths.length - 1))] ?? 0
    console.log(
      `${path}: ${lengths.length} sentences, median ${at(0.5)}, 90% ${at(0.9)}, longest ${at(1)}, too long ${over}`,
    )
  } else {
    for (const { line, ruleId, message } of messages) console.error(`${path}:${line} ${ruleId}: ${message}`)
  }
}
if (!showsLengths && results.some(({ messages }) => messages.length > 0)) process.exitCode = 1
