import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { nameTask } from '../../rollout/episode/index.js'
import { type Example, writeDataset } from '../../tasks/dataset/index.js'
import { CATALOGUE } from '../support/catalogue.js'
import { checkout } from '../support/checkout.js'
import { info, stream } from '../support/dataset-examples.js'
import { fails, says, startServer } from '../support/paraphraser-server.js'
import { PATIENCE_MS, patience } from '../support/patience.js'
import { rent } from '../support/reference-story.js'

const test = suite('user simulators')
const program = join(checkout, 'dist', 'servers', 'episodes', 'main.js')

/** Somebody wants a card frozen and does not say which. */
const taskOf = (wish: string) =>
  nameTask({
    kind: 'clarification',
    environments: [{ environment: 'banking', seed: 7 }],
    toolset: [{ environment: 'banking', tool: 'list_cards' }],
    turns: [wish, 'The one that ends in 42.'],
    groundTruth: [],
    questions: [{ turn: 0, words: ['card', 'which one'] }],
    chain: 'banking:freeze_card',
  })
const task = taskOf('Please freeze a card.')
const heldOut = ['Freeze one of my cards.', 'I want a card frozen.'].map((wish, i): Example => {
  const asking = taskOf(wish)
  const exchanges = asking.turns.map((user, turn) => ({
    ...{ user, calls: [] },
    assistant: turn === 0 ? 'Which card?' : 'I cannot do that.',
  }))
  return { ...rent, index: i + 1, split: 'held-out', task: asking, exchanges, origins: [], information: 'missing' }
})

let folder = ''
test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prove-user-model-'))
  await writeDataset(join(folder, 'set'), stream([rent, ...heldOut]), info, CATALOGUE)
})
test.after(() => rm(folder, { recursive: true, force: true }))

const flags = ['env', '--dataset', 'set', '--port', '0']
const options = { reject: false, timeout: PATIENCE_MS, cwd: '' } as const
const run = (...args: string[]) =>
  execa(process.execPath, [program, ...args], { ...options, cwd: folder, stdin: 'ignore' })

/** Runs the server while somebody uses it. @returns  what it said on stderr */
async function served(args: readonly string[], use: (origin: string) => Promise<void>): Promise<string> {
  const child = execa(process.execPath, [program, ...flags, '--end-with-stdin', ...args], {
    ...{ ...options, cwd: folder, stdin: 'pipe' },
  })
  let said = ''
  const origin = new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      said += String(chunk)
      const [, found] = said.match(/episodes at (\S+)\n/) ?? []
      if (found !== undefined) resolve(found)
    })
    child.stderr.on('end', () => reject(new Error(`the server ended and said ${said}`)))
  })
  try {
    await use(await origin)
  } finally {
    child.stdin.end()
    await child
  }
  return said
}

const post = async (url: string, body: unknown): Promise<Record<string, unknown>> => {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal: patience() })
  return (await answer.json()) as Record<string, unknown>
}
const actionsOf = async (episode: string): Promise<unknown> =>
  ((await (await fetch(episode, { signal: patience() })).json()) as Record<string, unknown>).actions

test('a server with a user simulator accepts its decisions, and prints its usage at the end', async () => {
  const model = await startServer(says('{"asks":"missing"}'))
  try {
    const understood = { asked: true, by: 'tiny-teacher' }
    const said = await served(
      ['--user-simulator', model.url, '--user-simulator-price', '1000,2000'],
      async (origin) => {
        const { episode } = await post(`${origin}/episodes`, { task })
        const url = `${origin}/episodes/${episode}`
        // A client cannot decide about a new message.
        const claim = { text: 'Which of them?', understood: { asked: false, by: 'me' } }
        assert.is((await post(`${url}/actions`, claim)).error, 'bad_request')
        assert.is((await post(`${url}/actions`, { text: 'Which of them?' })).user, 'The one that ends in 42.')
        const actions = [{ text: 'Which of them?', calls: [], understood }]
        assert.equal(await actionsOf(url), actions)
        // A record needs no model.
        const again = await post(`${origin}/episodes`, {
          task,
          actions: [{ text: 'Hm.', understood: { ...understood, asked: false } }],
        })
        assert.equal(again.actions, [{ text: 'Hm.', calls: [], understood: { ...understood, asked: false } }])
        assert.is(model.asked.length, 1)
      },
    )
    assert.match(said, /prove-server: user simulator: tiny-teacher\n/)
    assert.match(
      said,
      'user simulator tiny-teacher: 1 message, 1 with the due question, 0 without; 1 request, 300 + 100 tokens, cost 0.50\n',
    )
  } finally {
    await model.close()
  }
})

test('a missing decision is reported once and recorded for each message', async () => {
  const model = await startServer(fails(401))
  try {
    const said = await served(['--user-simulator', model.url], async (origin) => {
      const { episode } = await post(`${origin}/episodes`, { task })
      const url = `${origin}/episodes/${episode}`
      await post(`${url}/actions`, { text: 'Done.' })
      assert.is((await post(`${url}/actions`, { text: 'Which card?' })).user, 'The one that ends in 42.')
      assert.equal(await actionsOf(url), [
        { text: 'Done.', calls: [], understood: { asked: false, by: 'rules', problems: ['forbidden'] } },
        { text: 'Which card?', calls: [], understood: { asked: true, by: 'rules', problems: ['down'] } },
      ])
    })
    assert.is(said.split('gave no decision').length, 2, said)
  } finally {
    await model.close()
  }
})

test('a model file runs in this process; the demo model gives no decision', async () => {
  const file = join(checkout, 'models', 'demo', 'prove-demo-base-f16.gguf')
  await served(['--user-simulator-model', file], async (origin) => {
    const { episode } = await post(`${origin}/episodes`, { task })
    const url = `${origin}/episodes/${episode}`
    assert.is((await post(`${url}/actions`, { text: 'Which card?' })).user, 'The one that ends in 42.')
    const [{ understood }] = (await actionsOf(url)) as [{ understood: { by: string; problems: string[] } }]
    assert.is(understood.by, 'rules')
    assert.is(understood.problems.length, 2)
    // On a busy machine a reply may come too late.
    assert.ok(understood.problems.every((kind) => ['not_json', 'truncated', 'wrong_shape', 'timeout'].includes(kind)))
  })
})

test('an evaluation reports and records the decisions of its user simulator', async () => {
  const model = await startServer(says('{"asks":"other"}'))
  const tiny = join(checkout, 'test', 'fixtures', 'tiny')
  const [adapter] = (await readdir(tiny)).filter((name) => name.startsWith('lora-'))
  // Messages of an untrained model ask for nothing; the user insists twice and leaves.
  const flags = [
    '--dataset',
    'set',
    '--tasks',
    '2',
    '--slots',
    '2',
    '--workers',
    '1',
    '--samples',
    '1',
    '--no-greedy',
    '--json',
    '--out',
    'out',
  ]
  const files = ['--model', join(tiny, 'base.gguf'), '--adapter', join(tiny, adapter!)]
  const evaluate = (...args: string[]) =>
    execa(process.execPath, [join(checkout, 'dist', 'lab', 'main.js'), 'eval', ...files, ...flags, ...args], {
      ...{ ...options, cwd: folder, stdin: 'ignore' },
    })
  try {
    const { exitCode, stdout, stderr } = await evaluate('--user-simulator', model.url)
    assert.is(exitCode, 0, stderr)
    const { understood } = JSON.parse(stdout) as { understood: { messages: number } }
    assert.ok(understood.messages > 0)
    assert.equal(understood, { by: 'tiny-teacher', messages: understood.messages, asked: 0, byRules: 0 })
    assert.match(stderr, `user simulator tiny-teacher: ${model.asked.length} message`)
    const lines = (await readFile(join(folder, 'out', 'results.jsonl'), 'utf8')).trim().split('\n')
    const kept = lines.slice(1).flatMap((line) => {
      const { played = [] } = JSON.parse(line) as { played?: { understood: unknown[] }[] }
      return played.flatMap((one) => one.understood)
    })
    assert.equal(
      kept,
      kept.map(() => ({ asked: false, by: 'tiny-teacher' })),
    )
    assert.is(kept.length, understood.messages)
    const again = await evaluate('--user-simulator', model.url)
    assert.equal([again.exitCode, again.stdout], [0, stdout])
    const other = await evaluate()
    assert.equal([other.exitCode, /other_work/.test(other.stderr)], [1, true])
  } finally {
    await model.close()
  }
})

test('a missing or unusable model is reported in one line before serving', async () => {
  const refused = async (...args: string[]): Promise<[number | undefined, string]> => {
    const { exitCode, stderr } = await run(...args)
    return [exitCode, stderr.split('\n').at(-1)!]
  }
  const url = 'http://127.0.0.1:9/v1'
  const [away, why] = await refused(...flags, '--user-simulator', url)
  assert.is(away, 1)
  assert.match(why, /^prove-server: the language model's server does not list its models/)
  assert.is((await refused(...flags, '--user-simulator-model', 'gone.gguf'))[0], 1)
  assert.is((await refused(...flags, '--user-simulator', url, '--user-simulator-model', 'gone.gguf'))[0], 2)
  const [page, hint] = await refused('play', '--port', '0', '--user-simulator', url)
  assert.equal([page, /remove --port/.test(hint)], [2, true])
})

test.run()
