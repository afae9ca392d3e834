import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkout } from '../../support/checkout.js'

interface DocsLinks {
  deadLinks(documents: ReadonlyMap<string, string>, exists: (path: string) => boolean): string[]
  misplaced(pages: readonly string[], order: readonly string[]): string[]
}
const { deadLinks, misplaced } = (await import(
  pathToFileURL(join(checkout, 'scripts', 'docs-links.mjs')).href
)) as DocsLinks

const deadIn = (text: string): string[] =>
  deadLinks(
    new Map([
      ['docs/a/page.md', text],
      ['docs/b.md', '# Title\n\n## Leases, and `credit`\n\n## Leases, and `credit`\n\n```sh\n## no heading\n```\n'],
    ]),
    (path) => ['docs/a/page.md', 'docs/b.md', 'package.json'].includes(path),
  )

test('links to files and headings that exist are alive, also the second of two equal headings', () => {
  const text = '[a](../b.md) [b](../b.md#leases-and-credit) [c](../b.md#leases-and-credit-1) [d](../../package.json)'
  assert.equal(deadIn(`${text} [e](https://example.org/x#y) [f](#here)\n\n# Here\n\n\`[g](code.md)\``), [])
})

test('links to other files and headings are dead, also those of pictures, definitions and HTML', () => {
  const text = '[a](b.md) [b](../b.md#no-heading) ![c](c.png) [d][d] <img src="e.svg">\n\n[d]: d.md'
  assert.equal(
    deadIn(text).map((fault) => /links to (\S+):/.exec(fault)![1]),
    ['b.md', '../b.md#no-heading', 'c.png', 'd.md', 'e.svg'],
  )
})

test('a page without a place, a place without a page, and two places for a page are faults', () => {
  assert.equal(misplaced(['a.md', 'b.md'], ['b.md', 'a.md']), [])
  assert.is(misplaced(['a.md', 'b.md'], ['b.md', 'c.md', 'b.md']).length, 3)
})

test.run()
