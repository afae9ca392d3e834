import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import {
  choose,
  createSeedStateCache,
  defineEnvironment,
  dependencyGraph,
  descending,
  type ObstacleOf,
  ref,
  toolMaker,
} from '../../../servers/kernel/index.js'
import { readSpeechFile } from '../../../servers/load-speech.js'
import { DEMO_PROFILE } from '../../../tasks/dataset/index.js'
import { contextFor, streamExamples } from '../../../tasks/synthesis/index.js'
import { checkout } from '../../support/checkout.js'

// The example of docs/environments/write.md, word for word from here to the line that ends it.
const tables = {
  shelves: { row: z.object({ shelf: z.string(), room: z.string() }), key: 'shelf', missing: 'unknown_shelf' },
  jars: {
    row: z.object({ jar: z.string(), content: z.string(), shelf: z.string(), grams: z.int().min(0) }),
    key: 'jar',
    missing: 'unknown_jar',
  },
} as const
const failures = {
  unknown_shelf: 'There is no such shelf.',
  unknown_jar: 'There is no such jar.',
  not_enough: 'The jar does not hold that much.',
}
const tool = toolMaker(tables, failures)

/** What stands against taking that much from a jar, if anything. */
function takingObstacle({ jar, grams }: { jar: string; grams: number }, taken: number): Obstacle | undefined {
  return taken > grams ? { code: 'not_enough', detail: `${jar} holds ${grams} grams.` } : undefined
}
type Obstacle = ObstacleOf<typeof failures>

const listShelves = tool({
  name: 'list_shelves',
  description: 'List the shelves of the pantry.',
  input: z.strictObject({}),
  output: z.object({ shelves: z.array(z.object({ shelf: ref('shelf'), room: z.string() })) }),
  pages: { shelves: 'short' },
  annotations: { readOnly: true },
  sample: () => ({}),
  run: (_, { db }) => ({ shelves: db.shelves.list() }),
})

const listJars = tool({
  name: 'list_jars',
  description: 'List the jars on a shelf, the fullest first.',
  input: z.strictObject({ shelf: ref('shelf', 'Key of the shelf') }),
  output: z.object({ jars: z.array(z.object({ jar: ref('jar'), content: z.string(), grams: z.int() })) }),
  pages: { jars: 'short' },
  annotations: { readOnly: true },
  sample: ({ db, random, bound }) => ({ shelf: bound.shelf ?? random.pick(db.shelves.list()).shelf }),
  run: ({ shelf: key }, { db, rowOf }) => {
    const { shelf } = rowOf('shelves', key)
    const jars = db.jars.list((row) => row.shelf === shelf).sort(descending('grams'))
    return { jars: jars.map(({ jar, content, grams }) => ({ jar, content, grams })) }
  },
})

const takeFromJar = tool({
  name: 'take_from_jar',
  description: 'Take some of what is in a jar.',
  input: z.strictObject({ jar: ref('jar', 'Key of the jar'), grams: z.int().min(1).describe('What to take') }),
  output: z.object({ jar: ref('jar'), left: z.int() }),
  annotations: { readOnly: false },
  establishes: ['something_taken'],
  sample: ({ db, random, bound }) => {
    const row = choose(db.jars, random, bound.jar, (jar) => !takingObstacle(jar, 10))
    return row ? { jar: row.jar, grams: 10 * random.int(1, Math.floor(row.grams / 10)) } : null
  },
  run: ({ jar: key, grams }, { db, rowOf, unless }) => {
    const jar = rowOf('jars', key)
    unless(takingObstacle(jar, grams))
    return { jar: key, left: db.jars.update(key, { grams: jar.grams - grams }).grams }
  },
})

const shoppingList = tool({
  name: 'shopping_list',
  description: 'List the jars that are nearly empty.',
  input: z.strictObject({}),
  output: z.object({ jars: z.array(z.object({ jar: ref('jar'), content: z.string() })) }),
  pages: { jars: 'short' },
  annotations: { readOnly: true },
  needs: ['something_taken'],
  sample: () => ({}),
  run: (_, { db }) => ({
    jars: db.jars.list(({ grams }) => grams < 100).map(({ jar, content }) => ({ jar, content })),
  }),
})

export const pantry = defineEnvironment({
  name: 'pantry',
  title: 'Pantry',
  description: 'Shelves, the jars on them and what the jars hold.',
  tables,
  entities: {
    shelf: { noun: 'shelf', table: 'shelves', label: 'room' },
    jar: { noun: 'jar', table: 'jars', label: 'content' },
  },
  failures,
  tools: [listShelves, listJars, takeFromJar, shoppingList],
  invariants: [
    {
      name: 'every jar stands on a shelf',
      check: ({ jars, shelves }) => {
        const lost = jars.find(({ shelf }) => !shelves.has(shelf))
        return lost && `${lost.jar} stands on ${lost.shelf}`
      },
    },
    {
      name: 'jars are not refilled',
      check: ({ jars }, seed) => jars.find(({ jar, grams }) => grams > seed.jars.get(jar)!.grams)?.jar,
    },
  ],
  seed: ({ random }) => {
    const shelves = ['kitchen', 'cellar', 'hall'].map((room, i) => ({ shelf: `shelf-${i + 1}`, room }))
    const contents = random.shuffle(['rice', 'flour', 'sugar', 'salt', 'lentils', 'oats', 'beans', 'cocoa'])
    const jars = contents.map((content, i) => ({
      jar: `jar-${random.int(1, 9)}${i}`,
      content,
      shelf: shelves[i % shelves.length]!.shelf,
      grams: 10 * random.int(5, 80),
    }))
    return { shelves, jars }
  },
})
// The example ends here.

test('docs/environments/write.md contains this very example', () => {
  const source = readFileSync(join(checkout, 'test', 'unit', 'docs', 'example.test.ts'), 'utf8')
  const [, example] = source.match(/from here to the line that ends it\.\n([\s\S]*?)\/\/ The example ends here\./)!
  assert.ok(example!.length > 2000)
  assert.ok(readFileSync(join(checkout, 'docs', 'environments', 'write.md'), 'utf8').includes(example!))
})

test('its dependency graph has the edges that docs/environments/write.md names', () => {
  const edges = dependencyGraph(pantry).edges.map((edge) => {
    const by = edge.kind === 'explicit' ? `${edge.field} of kind ${edge.entity}` : edge.fact
    return `${edge.from} → ${edge.to}: ${edge.kind}, ${by}`
  })
  const text = readFileSync(join(checkout, 'docs', 'environments', 'write.md'), 'utf8')
  const named = text.split('\n').flatMap((line) => line.match(/^- `(.* → .*)`$/)?.[1] ?? [])
  assert.equal(named, edges)
})

test('its sessions answer, refuse and stay sound', () => {
  const session = createSeedStateCache().open(pantry, 1)
  const { jar, grams } = session.db.jars!.list()[0] as { jar: string; grams: number }
  assert.equal(session.call('take_from_jar', { jar, grams }), { ok: true, output: { jar, left: 0 } })
  const refused = session.call('take_from_jar', { jar, grams: 1 })
  assert.equal(refused, { ok: false, code: 'not_enough', message: `${jar} holds 0 grams.` })
  const unknown = session.call('take_from_jar', { jar: 'jar-0', grams: 1 })
  assert.equal(unknown, { ok: false, code: 'unknown_jar', message: 'There is no jar jar-0.' })
  const list = session.call('shopping_list', {})
  assert.ok(list.ok && JSON.stringify(list.output).includes(jar))
  assert.equal(session.violations(), [])
})

/** The speech of the example, as docs/environments/speech.md shows it. */
function pantrySpeech(): string {
  return readFileSync(join(checkout, 'docs', 'environments', 'speech.md'), 'utf8').match(/```yaml\n([\s\S]*?)```/)![1]!
}

test('the synthesiser makes tasks from it and its speech in docs/environments/speech.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prove-pantry-'))
  const file = join(folder, 'speech.yaml')
  writeFileSync(file, pantrySpeech())
  const { speech } = readSpeechFile(pantry, file)
  rmSync(folder, { recursive: true })
  const context = contextFor([{ ...pantry, speech }], DEMO_PROFILE, 1, createSeedStateCache())
  const examples = [...streamExamples(context, 'train', 20)]
  const chains = new Set(examples.map(({ task }) => task.chain))
  assert.ok(chains.size > 1)
  for (const {
    task: { environments, groundTruth },
  } of examples) {
    const session = createSeedStateCache().open(pantry, environments[0]!.seed)
    for (const call of groundTruth) assert.ok(session.call(call.name, call.arguments).ok, call.name)
  }
})

test.run()
