import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { describePrograms } from '../../../common/cli/index.js'
import { EVENTS } from '../../../coordinator/ledger/events.js'
import { checkout } from '../../support/checkout.js'
import { allPrograms } from '../../support/program-trees.js'

const read = (name: string): string => readFileSync(join(checkout, 'docs', 'reference', name), 'utf8')
const { describeEvents } = (await import(pathToFileURL(join(checkout, 'scripts', 'describe-events.mjs')).href)) as {
  describeEvents(events: typeof EVENTS): string
}

test('docs/reference/commands.md is what npm run docs writes, of all programs and on every machine', async () => {
  const programs = await allPrograms()
  const text = await describePrograms(programs)
  assert.ok(text === read('commands.md'), 'docs/reference/commands.md is out of date: run npm run docs')
  for (const { commands } of programs)
    for (const name of Object.keys(commands)) assert.match(text, new RegExp(`#### \`prove-\\w+ ${name}`))
  assert.not.match(text, /\| `?\/(root|home|work|tmp)\//, 'a default of this machine')
})

test('docs/reference/events.md is what npm run docs writes, and says what every event is', () => {
  const text = describeEvents(EVENTS)
  assert.ok(text === read('events.md'), 'docs/reference/events.md is out of date: run npm run docs')
  for (const type of Object.keys(EVENTS)) assert.match(text, new RegExp(`## \`${type}\`\n\n[\\w\`]`))
})

test.run()
