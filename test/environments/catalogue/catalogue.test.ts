import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { loadEnvironmentsIn } from '../../../servers/catalogue.js'
import { EnvironmentDefect, offerEnvironments, SESSION_START } from '../../../servers/kernel/index.js'
import { instructionsOf } from '../../../servers/kernel/mcp/instructions.js'
import { CATALOGUE } from '../../support/catalogue.js'

const test = suite('the catalogue')

/** Table 2 of the paper. */
const TOOLS: Readonly<Record<string, number>> = {
  banking: 17,
  budget: 12,
  calendar: 17,
  crm: 16,
  email: 17,
  filesystem: 40,
  food_delivery: 17,
  iot_devices: 25,
  issue_tracker: 20,
  maps: 16,
  marketplace: 13,
  payments: 10,
  retail_chain: 11,
  shopping: 23,
  social_media: 15,
  team_chat: 11,
  trading: 13,
  travel_booking: 20,
  vehicle: 20,
  video_meeting: 10,
}

/** `.js` when built, `.ts` when run from the sources. */
const extension = import.meta.url.slice(-3)

/** A folder of worlds, with one file `index` in each. */
async function withFolder(
  indexes: Record<string, string | null>,
  use: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'prove-worlds-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    for (const [name, code] of Object.entries(indexes)) {
      mkdirSync(join(folder, name))
      if (code !== null) writeFileSync(join(folder, name, `index${extension}`), code)
    }
    await use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const libraryEnvironment = pathToFileURL(
  join(import.meta.dirname, '..', '..', 'support', `library-environment${extension}`),
).href
const exporting = (names: string): string => `export { ${names} } from ${JSON.stringify(libraryEnvironment)}\n`

test('holds the servers of the paper with as many tools, and all can be offered together', () => {
  const counts = [...CATALOGUE].map(([name, { tools }]) => [name, tools.length] as const)
  assert.equal(Object.fromEntries(counts.filter(([name]) => name in TOOLS)), TOOLS)
  const all = counts.reduce((sum, [, count]) => sum + count, 0)
  assert.is(offerEnvironments([...CATALOGUE.values()]).tools.length, all)
})

test('gives every tool a name that no other world uses, so that all can be offered together', () => {
  const owners = new Map<string, string>()
  for (const { name, tools } of CATALOGUE.values()) {
    for (const tool of tools) {
      assert.is(owners.get(tool.name), undefined, `${name} and ${owners.get(tool.name)} both have ${tool.name}`)
      owners.set(tool.name, name)
    }
  }
})

test('tells clients of every world what day it is there, and shows them a title and described arguments for every tool', () => {
  for (const environment of CATALOGUE.values()) {
    assert.ok(instructionsOf([environment]).includes(SESSION_START))
    for (const { name, title, inputSchema } of offerEnvironments([environment]).tools) {
      assert.match(title, /^[A-Z]/)
      for (const [field, schema] of Object.entries(inputSchema.properties as Record<string, { description?: string }>))
        assert.ok(schema.description, `${name} says nothing about {${field}}`)
    }
  }
})

test('finds a new world by its folder alone', () =>
  withFolder({ library: exporting('library'), kernel: null }, async (folder) => {
    const found = await loadEnvironmentsIn(folder)
    assert.equal([...found.keys()], ['library'])
  }))

for (const [what, indexes, complaint] of [
  ['has no index', { library: null }, /library: the folder has no index/],
  ['exports no environment', { library: exporting('tools') }, /exports 0 environments instead of one/],
  [
    'exports two environments',
    { library: exporting('library, library as again') },
    /exports 2 environments instead of one/,
  ],
  [
    'has another name than its environment',
    { bookshop: exporting('library') },
    /bookshop: the environment in this folder has the name library/,
  ],
] as const) {
  test(`refuses a folder that ${what}`, () =>
    withFolder(indexes, async (folder) => {
      const error = await loadEnvironmentsIn(folder).catch((cause: Error) => cause)
      assert.instance(error, EnvironmentDefect)
      assert.match((error as Error).message, complaint)
    }))
}

test.run()
