import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { EventOf, RunEvent } from '../../../coordinator/ledger/events.js'
import type { Recorder } from '../../../coordinator/ledger/recorder.js'
import { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import { type HeldOutParts, type NoScore, scoreVersions } from '../../../coordinator/service/held-out.js'
import { EngineError, type EngineOptions, type SlotRequest } from '../../../rollout/engine/index.js'
import { promptOf } from '../../../rollout/episode/index.js'
import { patience } from '../../support/patience.js'
import { agreed, hex, published } from '../../support/run-events.js'
import {
  AMPLE,
  groundTruthScript,
  lendingTask,
  runtimeOf,
  scriptedSource,
  scriptTokenizer,
} from '../../support/scripted.js'

const TASKS = Array.from({ length: 10 }, (_, i) =>
  lendingTask({ turns: [`Please lend emma to Ada. It is wish ${i}.`, 'Now take that loan back.'] }),
)
const TOO_LONG = lendingTask({ turns: ['x'.repeat(AMPLE.maxRolloutTokens), 'No.'] })
const runtime = runtimeOf()
const tokenizer = scriptTokenizer()

/** The run whose versions are scored: what its engine did, and what is on record. */
class Scored {
  readonly state = new RunReducer()
  readonly scores: EventOf<'scored'>[] = []
  readonly missed: NoScore[] = []
  readonly opened: EngineOptions[] = []
  readonly seeds: string[] = []
  closed = 0
  ticks = 0

  constructor(...events: RunEvent[]) {
    for (const event of [agreed({ versions: 6, limits: AMPLE }), ...events]) this.state.apply(event)
  }

  /** @param onTick  what happens while nothing is due; @param solves  the tasks that a version's adapter solves */
  score(
    every: number,
    {
      onTick = () => assert.unreachable('it waits for nothing'),
      solves = () => true,
      signal = patience(),
      timeUp = new AbortController().signal,
      tasks = TASKS,
    }: {
      readonly onTick?: (tick: number) => void
      readonly solves?: (task: number, adapter: string) => boolean
      readonly signal?: AbortSignal
      readonly timeUp?: AbortSignal
      readonly tasks?: readonly (typeof TASKS)[number][]
    } = {},
  ): Promise<void> {
    let adapter = ''
    const taskOf = ({ prompt }: SlotRequest) =>
      TASKS.findIndex((task) => promptOf(task, runtime, AMPLE).join() === prompt.join())
    const record: Recorder['record'] = async (decide) => {
      const event = decide(this.state)
      if (!event) return null
      this.state.apply(event)
      this.scores.push(event as RunEvent as EventOf<'scored'>)
      return event
    }
    const parts: HeldOutParts = {
      config: { heldOut: { tasks: TASKS.length, every, threads: 3, gpu: false }, base: { path: 'base.gguf' } as never },
      tasks,
      runtimeOf: () => runtime,
      recorder: { record, state: this.state },
      blobs: { path: (sha256) => sha256 },
      clock: {
        now: () => 0,
        sleep: async () => {
          onTick(this.ticks++)
        },
        timeout: () => timeUp,
      },
      onProgress: (missed) => this.missed.push(missed),
      open: async (options) => {
        this.opened.push(options)
        return {
          usePolicy: async (policy) => {
            adapter = policy!.sha256
          },
          openSlots: async (requests, ending) => {
            ending.throwIfAborted()
            this.seeds.push(requests.map(({ seeds }) => seeds[0]).join())
            return requests.map((request) => {
              const task = taskOf(request)
              return scriptedSource(solves(task, adapter) ? groundTruthScript(TASKS[task]!) : ['No.', 'No.'], tokenizer)
            })
          },
          close: async () => {
            this.closed += 1
          },
        }
      },
    }
    return scoreVersions(parts, signal)
  }
}

test('a version is scored on tasks that fit, with a mean and its standard error, and what was left out is said', async () => {
  const run = new Scored(published(6, { adapterSha256: hex(6) }))
  await run.score(1, { solves: (task) => task < 4, tasks: [...TASKS, TOO_LONG] })
  const [score] = run.scores
  assert.equal([score!.version, score!.adapterSha256, score!.tasks, score!.tooLong], [6, hex(6), 10, 1])
  assert.is(score!.solved.mean, 0.4)
  assert.ok(Math.abs(score!.solved.stderr - Math.sqrt((0.4 * 0.6) / 9)) < 1e-12)
  assert.ok(score!.reward.mean > 0 && score!.reward.stderr > 0)
  assert.equal([score!.calls, score!.callsDue], [0.8, 2])
  const [{ threads, gpu, slots, contextSize }] = run.opened as [EngineOptions]
  assert.equal([threads, gpu, slots, contextSize], [3, false, 8, AMPLE.maxRolloutTokens])
  assert.is(run.closed, 1)
})

test('every so many versions get a score, a run that is faster than its scores the newest of them, and the last one always', async () => {
  const run = new Scored(published(0))
  const coming = [published(1), published(2), [3, 4, 5].map((version) => published(version)), published(6)].flat()
  await run.score(2, {
    onTick: (tick) => {
      // Three at once in the middle: 4 is due, and 3 is not looked at any more.
      for (const event of coming.splice(0, tick === 2 ? 3 : 1)) run.state.apply(event)
    },
  })
  assert.equal(
    run.scores.map(({ version }) => version),
    [0, 2, 4, 6],
  )
  assert.is(new Set(run.seeds.filter((_, i) => i % 2 === 0)).size, 1, 'all versions meet the same draws')
  assert.equal(
    run.state.scores.map(({ version }) => version),
    [0, 6],
    'the state keeps the first and the newest',
  )
  const again = new Scored(published(6), { ...run.scores.at(-1)! })
  await again.score(2)
  assert.is(again.opened.length, 0, 'after a restart nothing is played twice')
})

test('an engine that fails, or takes too long, costs a version its score, once, and no later one', async () => {
  const run = new Scored(published(0))
  const fails = (_: number, adapter: string): boolean => {
    if (adapter === hex(3)) throw new EngineError('engine_crashed', 'the engine ended with signal SIGSEGV')
    return true
  }
  await run.score(1, { solves: fails, onTick: () => run.state.apply(published(6, { adapterSha256: hex(6) })) })
  assert.equal(
    run.missed.map(({ version, why }) => [version, /SIGSEGV/.test(why)]),
    [[0, true]],
  )
  assert.equal(
    run.scores.map(({ version }) => version),
    [6],
  )
  assert.is(run.closed, 2)
  const slow = new Scored(published(6))
  await slow.score(1, { timeUp: AbortSignal.abort(new Error('time is up')) })
  assert.match(slow.missed[0]!.why, /took longer than 6 hours/)
  assert.equal([slow.scores.length, slow.closed], [0, 1])
})

test('an end of the coordinator ends the engine, and leaves no score behind', async () => {
  const run = new Scored(published(6))
  const ending = new AbortController()
  const solves = (): boolean => {
    ending.abort(new Error('the coordinator is closing'))
    return true
  }
  await run.score(1, { solves, signal: ending.signal })
  assert.equal([run.scores.length, run.missed.length, run.closed], [0, 0, 1])
})

test.run()
