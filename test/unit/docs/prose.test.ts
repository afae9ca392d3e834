import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkout } from '../../support/checkout.js'

const load = async (name: string): Promise<unknown> =>
  import(pathToFileURL(join(checkout, 'scripts', 'prose', name)).href)
const { lintMarkdown } = (await load('lint-markdown.mjs')) as {
  lintMarkdown(
    path: string,
    text: string,
    limits: { readonly max: number; readonly words: unknown },
  ): Promise<{ readonly line: number; readonly ruleId: string }[]>
}
const { readCode } = (await load('read-code.mjs')) as { readCode(path: string, source: string): string }
const { readBannedWords, writtenPart } = (await load('banned-words.mjs')) as {
  readBannedWords(glossary: string): unknown
  writtenPart(markdown: string): string
}

const words = readBannedWords(readFileSync(join(checkout, 'docs', 'reference', 'glossary.md'), 'utf8'))

/** Lines and rules of the findings in a text, with at most six words in a sentence. */
const findingsIn = async (text: string): Promise<string[]> =>
  (await lintMarkdown('docs/text.md', text, { max: 6, words })).map(({ line, ruleId }) => `${line} ${ruleId}`).sort()

test('sentences of paragraphs, lists and tables are checked, and a code span is one word', async () => {
  assert.equal(await findingsIn('One two three four five six. One.\n'), [])
  assert.equal(await findingsIn('One two three four five six seven.\n'), ['1 sentence-length'])
  assert.equal(await findingsIn('One two three four five `six and seven`.\n'), [])
  assert.equal(await findingsIn('One two three 100. One two three four.\n'), [])
  assert.equal(await findingsIn('| a | b |\n| --- | --- |\n| one | one two three four five six seven |\n'), [
    '3 sentence-length',
  ])
  assert.equal(await findingsIn('- one\n- one two three four five six seven\n'), ['2 sentence-length'])
  assert.equal(await findingsIn('```\none two three four five six seven eight\n```\n'), [])
})

test('a sentence needs a subject, and a banned word is found where it stands', async () => {
  assert.equal(await findingsIn('What it needs is time.\n\nWhat does it need?\n'), ['1 named-subject'])
  assert.equal(await findingsIn('A lane.\n\nThe `lane` of a\nturnstile.\n'), ['1 banned-words', '4 banned-words'])
})

test('comments of exported declarations and messages of errors are read with their lines', () => {
  const source = [
    '/** Private. */',
    'const a = 1',
    '/**',
    ' * Returns a.',
    ' * @param b  the other number',
    ' */',
    'export function sum(b: number) {',
    `  if (b === 0) throw new RangeError(\`zero of \${b} is not a number to add\`)`,
    '  return a + b',
    '}',
    'export interface Pair {',
    '  /** The first. */',
    '  readonly first: number',
    '}',
  ].join('\n')
  const lines = readCode('sum.ts', source).split('\n')
  assert.is(lines.length, source.split('\n').length)
  assert.equal(
    lines.flatMap((line, i) => (line.trim() === '' ? [] : [`${i + 1} ${line.trim()}`])),
    ['4 Returns a.', '5 - b  the other number', '8 zero of `x` is not a number to add', '12 The first.'],
  )
})

test('generated tables and logs of measurements are blank, and other lines keep their numbers', () => {
  const text =
    'a\n<!-- generated: npm run docs -->\n| b |\n<!-- /generated -->\n<!-- measurements -->\nc\n<!-- /measurements -->\nd'
  assert.is(writtenPart(text), 'a\n\n\n\n\n\n\nd')
})

test.run()
