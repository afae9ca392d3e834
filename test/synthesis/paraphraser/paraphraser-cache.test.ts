import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openCache } from '../../../tasks/synthesis/paraphraser/cache.js'
import { type Paraphraser, rephraseAll } from '../../../tasks/synthesis/paraphraser/index.js'
import {
  inTurn,
  never,
  paraphraserAt,
  polite,
  says,
  startServer,
  type TestServer,
  temporaryFolder,
} from '../../support/paraphraser-server.js'
import { numbered, rent, TODAY } from '../../support/reference-story.js'

const context = (signal = never()) => ({ today: TODAY, signal })
const ID = 'a'.repeat(64)
const turns = [{ user: 'Hello', assistant: 'Good day' }]

async function withServer(body: (server: TestServer, folder: string) => Promise<void>): Promise<void> {
  const folder = await temporaryFolder()
  const server = await startServer(polite)
  try {
    await body(server, folder.path)
  } finally {
    await server.close()
    await folder.remove()
  }
}

/** Runs a paraphraser over some examples. */
async function run(server: TestServer, folder: string, count: number, use?: (paraphraser: Paraphraser) => void) {
  const paraphraser = await paraphraserAt(server.url, folder)
  try {
    const made = []
    const examples = Array.from({ length: count }, (_, i) => numbered(i))
    for await (const one of rephraseAll(examples, paraphraser, context(), 2)) made.push(one)
    use?.(paraphraser)
    return made
  } finally {
    await paraphraser.close()
  }
}

test('a stopped run resumes and gives the same examples', () =>
  withServer(async (server, folder) => {
    const part = await run(server, folder, 3)
    assert.is(server.asked.length, 3)
    const whole = await run(server, folder, 5, (paraphraser) => assert.is(paraphraser.report().fromCache, 3))
    assert.is(server.asked.length, 5)
    assert.equal(whole.slice(0, 3), part)
    const again = await run(server, folder, 5, (paraphraser) => assert.is(paraphraser.report().requests, 0))
    assert.is(server.asked.length, 5)
    assert.equal(again, whole)
  }))

test('after a kill at any position of the file, finished rephrasings and later lines are readable', () =>
  withServer(async (server, folder) => {
    const path = join(folder, 'rephrased.jsonl')
    const whole = await run(server, folder, 3)
    const bytes = readFileSync(path)
    const ends = [...bytes.entries()].flatMap(([at, byte]) => (byte === 10 ? [at + 1] : []))
    assert.is(ends.length, 3)
    for (const cut of [0, 1, 40, ends[0]! - 2, ends[0]! - 1, ends[0]!, ends[0]! + 7, ends[1]! - 1, ends[1]! + 200]) {
      writeFileSync(path, bytes)
      truncateSync(path, cut)
      const before = server.asked.length
      assert.equal(await run(server, folder, 3), whole, `cut at ${cut}`)
      // A line that lacks nothing but its end is whole.
      const intact = ends.filter((end) => end - 1 <= cut).length
      assert.is(server.asked.length - before, 3 - intact, `cut at ${cut}`)
      await run(server, folder, 3, (paraphraser) => assert.is(paraphraser.report().fromCache, 3))
    }
  }))

test('examples for which no reply could be used are not asked for again', () =>
  withServer(async (server, folder) => {
    server.behave(says('rubbish'))
    const [first] = await run(server, folder, 1)
    assert.is(first!.outcome, 'kept')
    assert.is(server.asked.length, 3)
    const [again] = await run(server, folder, 1)
    assert.is(again!.outcome, 'kept')
    assert.is(again!.attempts, 3)
    assert.is(server.asked.length, 3)
  }))

test('words in the cache are judged like a reply’s', () =>
  withServer(async (server, folder) => {
    const paraphraser = await paraphraserAt(server.url, folder)
    await paraphraser.close()
    const line = { task: numbered(0).task.id, paraphraser: 'tiny-teacher', prompt: 1, attempts: 1 }
    const path = join(folder, 'rephrased.jsonl')
    for (const words of [turns, [...turns, ...turns], [{ user: '<tool_call>', assistant: '' }]]) {
      writeFileSync(path, `${JSON.stringify({ ...line, turns: words })}\n`)
      const before = server.asked.length
      const [made] = await run(server, folder, 1)
      assert.is(made!.outcome, 'paraphrased')
      assert.is(server.asked.length, before + 1)
    }
  }))

test('lines of another paraphraser or prompt, and damaged lines, are not used', () =>
  withServer(async (_, folder) => {
    const path = join(folder, 'rephrased.jsonl')
    const line = (more: object) =>
      `${JSON.stringify({ task: ID, paraphraser: 'me', prompt: 1, attempts: 1, turns, ...more })}\n`
    const foreign = [line({ paraphraser: 'you' }), line({ prompt: 0 })]
    const damaged = [
      'nonsense\n',
      '\u0000\n',
      '{}\n',
      '[]\n',
      'null\n',
      line({ turns: 5 }),
      line({ task: '../../etc' }),
      line({ attempts: -1 }),
    ]
    writeFileSync(path, [...foreign, ...damaged, `${'x'.repeat(400_000)}\n`, '\n'].join(''))
    const cache = await openCache(folder, 'me')
    assert.is(cache.get(ID), undefined)
    assert.is(cache.damaged, damaged.length + 1)
    await cache.put(ID, { attempts: 2, turns })
    await cache.close()
    const second = await openCache(folder, 'me')
    assert.equal(second.get(ID), { attempts: 2, turns })
    await second.close()
    appendFileSync(path, 'y'.repeat(300_000))
    const third = await openCache(folder, 'me')
    assert.equal(third.get(ID), { attempts: 2, turns })
    assert.is(third.damaged, damaged.length + 2)
    await third.close()
  }))

test('many lines written at once are whole lines', () =>
  withServer(async (_, folder) => {
    const cache = await openCache(folder, 'me')
    const ids = Array.from({ length: 50 }, (_, i) => i.toString(16).padStart(64, '0'))
    await Promise.all(ids.map((id, i) => cache.put(id, { attempts: i + 1, turns })))
    await cache.close()
    const second = await openCache(folder, 'me')
    assert.is(second.damaged, 0)
    for (const [i, id] of ids.entries()) assert.is(second.get(id)?.attempts, i + 1)
    await second.close()
  }))

test('the next run rephrases examples that the budget or the network left out', () =>
  withServer(async (server, folder) => {
    const limits = { failures: 2 }
    const one = await paraphraserAt(server.url, folder, { budget: { requests: 1, tokens: 1e7 } })
    assert.is((await one.rephrase(numbered(0), context())).outcome, 'paraphrased')
    assert.is((await one.rephrase(numbered(1), context())).outcome, 'kept')
    await one.close()
    server.behave((response) => void response.destroy())
    const two = await paraphraserAt(server.url, folder, { limits })
    assert.is((await two.rephrase(numbered(1), context())).outcome, 'kept')
    await two.close()
    server.behave(inTurn(polite))
    const three = await paraphraserAt(server.url, folder)
    assert.is((await three.rephrase(numbered(1), context())).outcome, 'paraphrased')
    assert.is((await three.rephrase(rent, context())).outcome, 'paraphrased')
    assert.is(three.report().fromCache, 0)
    await three.close()
  }))

test.run()
