import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { describePrograms } from '../../../common/cli/index.js'
import { checkout } from '../../support/checkout.js'
import { allPrograms } from '../../support/program-trees.js'

interface BannedWord {
  readonly words: readonly string[]
  readonly instead: string
  readonly inIdentifiers: boolean
  readonly inText: boolean
  readonly inHelp: boolean
  readonly allowed: readonly string[]
}
interface Finding {
  readonly word: string
  readonly index: number
}
const { bannedInName, bannedInText, partsOf, readBannedWords, writtenPart } = (await import(
  pathToFileURL(join(checkout, 'scripts', 'prose', 'banned-words.mjs')).href
)) as {
  readBannedWords(glossary: string): BannedWord[]
  partsOf(name: string): string[]
  writtenPart(markdown: string): string
  bannedInName(rules: readonly BannedWord[], path: string, name: string): string[]
  bannedInText(rules: readonly BannedWord[], path: string, text: string): Finding[]
}

const read = (name: string): string => readFileSync(join(checkout, name), 'utf8')
const glossary = read('docs/reference/glossary.md')
const rules = readBannedWords(glossary)

const tracked = (...patterns: string[]): string[] =>
  execFileSync('git', ['ls-files', '--', ...patterns], { cwd: checkout, encoding: 'utf8' })
    .split('\n')
    .filter((name) => name !== '' && !name.startsWith('proto/gen/'))

/** Documents whose English is in the code, where the linter reads it. */
const GENERATED = [
  ...['commands', 'events', 'limits', 'metrics', 'verdicts'].map((name) => `docs/reference/${name}.md`),
  'docs/environments/catalogue/',
]

/** Names in a TypeScript file: its identifiers, without strings and comments. */
function namesInTypeScript(source: string): Set<string> {
  const names = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) names.add(node.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('names.ts', source, ts.ScriptTarget.Latest))
  return names
}

/** Names in a Python file: its words outside strings and comments. Fields of f-strings are not read. */
function namesInPython(source: string): Set<string> {
  const code = source.replace(/"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#.*/g, ' ')
  return new Set(code.match(/[A-Za-z_]\w*/g))
}

/** Prose of a Markdown document, without code. */
const proseOf = (markdown: string): string =>
  writtenPart(markdown)
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, ' ')
    .replace(/\]\([^)]*\)/g, ']')

function linesWith(path: string, text: string, within = rules): string[] {
  return bannedInText(within, path, text).map(({ word, index }) => {
    const line = text.slice(text.lastIndexOf('\n', index) + 1).split('\n')[0]!
    return `${path}: "${word}" in: ${line.slice(0, 100)}`
  })
}

test('the search for words finds parts of names and phrases of text, except allowed ones', () => {
  assert.equal(partsOf('PROVE_worldsHTTPLane2'), ['prove', 'worlds', 'http', 'lane'])
  assert.equal([...namesInTypeScript("const a = 'lane' // lane\nlet #b: Lane")].includes('lane'), false)
  assert.equal([...namesInPython('lane = "desk" # spool')], ['lane'])
  const [rule] = readBannedWords(
    '| word | write instead | checked in | allowed |\n| --- | --- | --- | --- |\n| `desk`, `desks` | service | identifiers, text | `help desk`, `office/`, `deskHint` |\n',
  )
  assert.equal(bannedInName([rule!], 'node/a.ts', 'openDesks'), ['desks'])
  for (const [path, name] of [
    ['node/a.ts', 'deskHint'],
    ['office/a.ts', 'openDesk'],
    ['node/a.ts', 'desktop'],
  ] as const)
    assert.equal(bannedInName([rule!], path, name), [], name)
  assert.equal(
    bannedInText([rule!], 'docs/a.md', 'A help desk, and a Desk.').map(({ word }) => word),
    ['desk'],
  )
  assert.throws(() => readBannedWords('# Glossary'), /no table/)
})

test('no name in the code contains a word that docs/reference/glossary.md bans', () => {
  assert.ok(rules.filter(({ inIdentifiers }) => inIdentifiers).length >= 5)
  const found = tracked('*.ts', '*.py').flatMap((path) => {
    const names = path.endsWith('.py') ? namesInPython(read(path)) : namesInTypeScript(read(path))
    return [...names].flatMap((name) => bannedInName(rules, path, name).map((word) => `${path}: ${name} (${word})`))
  })
  assert.equal(found, [])
})

test('no help text of a command contains a word that docs/reference/glossary.md bans', async () => {
  const help = await describePrograms(await allPrograms())
  const forHelp = rules.filter(({ inHelp }) => inHelp).map((rule) => ({ ...rule, inText: true }))
  assert.ok(forHelp.length >= 5)
  assert.equal(linesWith('docs/reference/commands.md', proseOf(help), forHelp), [])
})

test('no document contains a word that docs/reference/glossary.md bans', () => {
  const documents = tracked('docs/*.md', 'README.md', 'CONTRIBUTING.md', 'prove-worlds/README.md').filter(
    (path) => !GENERATED.some((generated) => path.startsWith(generated)),
  )
  const found = documents.flatMap((path) => linesWith(path, proseOf(read(path))))
  assert.equal(found, [])
})

test('every file that docs/reference/glossary.md names exists', () => {
  const spans = [...glossary.split('## Words to avoid')[0]!.matchAll(/`([\w./*-]+\/[\w./*-]*)`/g)].map(
    ([, path]) => path!,
  )
  assert.ok(spans.length > 30)
  assert.equal(
    spans.filter((path) => tracked(path).length === 0),
    [],
  )
})

test.run()
