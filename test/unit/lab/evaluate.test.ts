import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { fittingTasks, limitsOf } from '../../../lab/fitting-tasks.js'
import { type JournalError, openJournal } from '../../../lab/journal.js'
import type { AdapterFile, Engine, SlotRequest } from '../../../rollout/engine/types.js'
import {
  attemptsOf,
  DEFAULT_LIMITS,
  enginePlayer,
  evaluatePolicy,
  type Played,
  type PlayedTogether,
  playAll,
  promptOf,
} from '../../../rollout/episode/index.js'
import { patience } from '../../support/patience.js'
import {
  AMPLE,
  groundTruthScript,
  lendingTask,
  runtimeOf,
  scriptedSource,
  scriptTokenizer,
} from '../../support/scripted.js'

const TASKS = ['Please lend emma to Ada.', 'Could Ada have emma?', 'Ada wants to read emma.'].map((wish) =>
  lendingTask({ turns: [wish, 'Now take that loan back.'] }),
)
const ATTEMPTS = attemptsOf(
  TASKS,
  [
    { temperature: 0, samples: 1 },
    { temperature: 1, samples: 3 },
  ],
  7,
  AMPLE,
)
/** Indices of the base and of the adapter. */
const POLICIES = { policies: [0, 1], together: 2 }
const ADAPTER: AdapterFile = { path: 'adapter.gguf', sha256: 'ab'.repeat(32) }
const runtime = runtimeOf()
const tokenizer = scriptTokenizer()
const playerOf = (engine: Engine) =>
  enginePlayer(engine, (policy) => [null, ADAPTER][policy]!, runtime, { limits: AMPLE })

/** The adapter solves every task; the base only where the sampler is lucky. */
function engineThat(played: string[]): Engine {
  let policy: AdapterFile | null = null
  const taskOf = ({ prompt }: SlotRequest) =>
    TASKS.find((task) => promptOf(task, runtime, AMPLE).join() === prompt.join())!
  return {
    build: { nodeLlamaCpp: 'none', backend: 'cpu' },
    usePolicy: async (adapter: AdapterFile | null) => {
      policy = adapter
    },
    openSlots: async (requests: readonly SlotRequest[]) => {
      played.push(`${policy?.path} ${requests.map(({ seeds }) => seeds[0]).join()}`)
      return requests.map((request) => {
        const solves = policy !== null || request.seeds[0]! % 2 === 0
        return scriptedSource(solves ? groundTruthScript(taskOf(request)) : ['No.', 'No.'], tokenizer)
      })
    },
    score: async () => [],
    scoreTokens: async () => [],
    close: async () => undefined,
  }
}

async function evaluate(workers: number): Promise<{ results: Played[][]; played: string[][] }> {
  const played = Array.from({ length: workers }, (): string[] => [])
  const players = played.map((log) => playerOf(engineThat(log)))
  return { results: await playAll(ATTEMPTS, POLICIES, players, patience()), played }
}

test('an evaluation does not depend on which engine plays what', async () => {
  const alone = await evaluate(1)
  const [before, after] = alone.results
  assert.equal([before!.length, after!.length], [12, 12])
  assert.ok(after!.every(({ failure }) => failure === null))
  assert.ok(before!.some(({ failure }) => failure === 'no_call'))
  for (const workers of [2, 3, 20]) {
    const shared = await evaluate(workers)
    assert.equal(shared.results, alone.results)
    assert.equal(shared.played.flat().sort(), alone.played.flat().sort())
  }
})

test('engines begin with different policies and share the work', async () => {
  const { played } = await evaluate(2)
  assert.equal(
    played.map(([first]) => first!.split(' ')[0]),
    ['undefined', 'adapter.gguf'],
  )
  // Twelve rollouts of each policy, two at a time.
  assert.is(played.flat().length, 12)
})

test('all policies get the same random numbers, and each rollout its own', async () => {
  const { played } = await evaluate(1)
  const seeds = (policy: string): string[] =>
    played.flat().flatMap((entry) => (entry.startsWith(policy) ? entry.split(' ')[1]!.split(',') : []))
  assert.equal(seeds('undefined'), seeds('adapter.gguf'))
  assert.is(new Set(seeds('undefined').slice(3)).size, 9)
})

test('greedy rollouts are sampled at temperature 0, and the others at theirs', async () => {
  const asked: (number | undefined)[] = []
  const engine = engineThat([])
  const listening: Engine = {
    ...engine,
    openSlots: async (requests, signal) => {
      asked.push(...requests.map(({ temperature }) => temperature))
      return engine.openSlots(requests, signal)
    },
  }
  await playAll(ATTEMPTS, { policies: [0], together: 2 }, [playerOf(listening)], patience())
  assert.equal(asked, [...new Array(3).fill(0), ...new Array(9).fill(1)])
})

test('the results of one policy are averaged by task', async () => {
  const settings = { samplesPerTask: 3, slots: 2, seed: 7, temperature: 1, limits: AMPLE }
  const evaluated = await evaluatePolicy(TASKS, null, [engineThat([])], runtime, settings, patience())
  const [base] = (await evaluate(1)).results
  for (const [i, { taskId, reward, rewards, solved, calls }] of evaluated.entries()) {
    const rollouts = base!.slice(3 + 3 * i, 6 + 3 * i)
    assert.is(taskId, TASKS[i]!.id)
    assert.is(reward, rewards.paper)
    assert.is(Math.round(3 * solved), rollouts.filter(({ failure }) => failure === null).length)
    assert.is(
      Math.round(3 * calls),
      rollouts.reduce((sum, one) => sum + one.calls, 0),
    )
  }
})

test('a stopped evaluation resumes to the same results', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-evaluation-'))
  const file = join(folder, 'results.jsonl')
  const line = z.custom<PlayedTogether>((value) => typeof value === 'object')
  const run = async (): Promise<{ results: Played[][]; played: string[] }> => {
    const played: string[] = []
    const { earlier, add } = await openJournal(file, { seed: 7 }, line)
    const record = { earlier, add: (result: PlayedTogether) => add([result]) }
    const results = await playAll(ATTEMPTS, POLICIES, [playerOf(engineThat(played))], patience(), record)
    return { results, played }
  }
  try {
    const whole = await run()
    const lines = (await readFile(file, 'utf8')).split('\n')
    // Stopped after three results, in the middle of the fourth.
    await writeFile(file, [...lines.slice(0, 4), lines[4]!.slice(0, 9)].join('\n'))
    const rest = await run()
    assert.equal(rest.results, whole.results)
    assert.is(rest.played.length, whole.played.length - 3)
    assert.is(await readFile(file, 'utf8'), lines.join('\n'))
    const other = await openJournal(file, { seed: 8 }, line).then(
      () => null,
      (error: JournalError) => error,
    )
    assert.is(other?.code, 'other_work')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a task whose prompt is too long is omitted and counted, and a set of such tasks is rejected', () => {
  const long = lendingTask({ turns: ['Please lend emma to Ada. '.repeat(500), 'Now take that loan back.'] })
  const found = fittingTasks([...TASKS, long], runtime, { ...AMPLE, maxRolloutTokens: 10_000 })
  assert.equal(found, { tasks: TASKS, tooLong: 1 })
  assert.throws(
    () => fittingTasks([long], runtime, { ...AMPLE, maxRolloutTokens: 100 }),
    /nothing_fits.*--rollout-tokens/,
  )
})

test('limits come from the command line, then the run, then the defaults', () => {
  assert.equal(limitsOf({}), DEFAULT_LIMITS)
  assert.equal(limitsOf({ rolloutTokens: 8192 }), { ...DEFAULT_LIMITS, maxRolloutTokens: 8192 })
})

test.run()
