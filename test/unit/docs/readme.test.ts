import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkout } from '../../support/checkout.js'

interface Readme {
  withResults(text: string, results: unknown): string
  wordsIn(markdown: string): number
}
const { withResults, wordsIn } = (await import(pathToFileURL(join(checkout, 'scripts', 'readme.mjs')).href)) as Readme
const read = (path: string): string => readFileSync(join(checkout, path), 'utf8')
const readme = read('README.md')

test('words are those of text, tables, code and links, not of comments', () => {
  assert.is(wordsIn('# One [two](https://example.org/a) **three** `four five` - – <!-- no, no -->'), 5)
  assert.is(wordsIn('| one | two |\n| --- | --- |\n| three | `four` |\n\n```sh\nfive six # seven\n```\n\n- eight\n'), 9)
})

test('the README has at most 700 words, and its first sentence at most 15', () => {
  assert.ok(wordsIn(readme) <= 700, `${wordsIn(readme)} words`)
  const [, tagline] = /^\*\*(.+)\*\*$/m.exec(readme)!
  assert.ok(wordsIn(tagline!) <= 15, tagline)
})

test('the table of results is what npm run docs writes', () => {
  assert.is(withResults(readme, JSON.parse(read('docs/reports/results.json'))), readme)
  assert.throws(() => withResults('# README', { rows: [] }), /no place/)
})

test('the lines that the README shows of the demo are in its recorded output', () => {
  const [, shown] = /```\n(social_media[\s\S]*?)```/.exec(readme)!
  assert.ok(read('docs/pictures/demo.txt').includes(shown!), 'copy them from docs/pictures/demo.txt')
})

test.run()
