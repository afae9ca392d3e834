import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { describeCatalogue, describeEnvironment } from '../../../servers/describe.js'
import { CATALOGUE } from '../../support/catalogue.js'
import { checkout } from '../../support/checkout.js'
import { library } from '../../support/library-environment.js'

const test = suite('the description of the environments')

test('docs/environments/catalogue has a current page for each environment, and no other', () => {
  const folder = join(checkout, 'docs', 'environments', 'catalogue')
  const pages = describeCatalogue(CATALOGUE)
  assert.equal(readdirSync(folder).sort(), [...pages.keys()].sort())
  for (const [name, text] of pages)
    assert.ok(readFileSync(join(folder, name), 'utf8') === text, `${name} is out of date: run npm run docs`)
})

test('names tools, parameters, failures, invariants and the edges of the dependency graph', () => {
  const text = describeEnvironment(library)
  for (const part of [
    '| `lend_book` | Lend a book to a reader. | `book`: book key, Key of the book; `reader`: string; `weeks`: integer, optional |',
    '| `already_lent` | Somebody else has the book. |',
    '| `list_books` `return_book` | book key | `lend_book` |',
    'list_books --> e',
  ]) {
    assert.ok(text.includes(part), `${part} is not in\n${text}`)
  }
})

test.run()
