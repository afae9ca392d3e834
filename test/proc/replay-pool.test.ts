import '../../swarm/polyfill.js'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createReplayPool, type ReplayPool } from '../../coordinator/intake/replay-pool.js'
import { type ReplayRequest, type Replays, replaysHere } from '../../coordinator/intake/replays.js'
import { groupBody, SwarmRefusal } from '../../proto/index.js'
import { openTokenizer, type Tokenizer } from '../../rollout/engine/index.js'
import { createReferenceSource, type EpisodeRuntime, runEpisode, type Task } from '../../rollout/episode/index.js'
import type { CheckWatch } from '../../rollout/verification/index.js'
import { createSeedStateCache } from '../../servers/kernel/index.js'
import { silentLogger } from '../../swarm/index.js'
import { DEMO_PROFILE } from '../../tasks/dataset/index.js'
import { contextFor, streamExamples } from '../../tasks/synthesis/index.js'
import { checkout } from '../support/checkout.js'
import { patience } from '../support/patience.js'
import { AMPLE, bodyOf, groundTruthScript, runtimeOf } from '../support/scripted.js'
import { CATALOGUE } from '../support/spoken-catalogue.js'

/** The processes that replay groups, with a real vocabulary and a world of the package. */

const ENVIRONMENT = 'calendar'
const MODEL = join(checkout, 'models', 'demo', 'prove-demo-base-f16.gguf')

interface Context {
  tokenizer: Tokenizer
  runtime: EpisodeRuntime
  request: ReplayRequest
  pool: ReplayPool
  understood: string[]
}
const test = suite<Context>('replay pool')

/** Says what ran, and not how long it took. */
const listener = (understood: string[]): CheckWatch => ({
  now: () => 0,
  onCheck: (number, outcome) => void understood.push(`${number} ${outcome}`),
})

/** Processes that this one has started and that have not ended. */
async function children(): Promise<number[]> {
  const list = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8')
  return list.trim().split(' ').filter(Boolean).map(Number)
}

/** To a process that may have ended by itself meanwhile. */
function signalTo(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (why) {
    assert.is((why as NodeJS.ErrnoException).code, 'ESRCH')
  }
}

/** The process that a pool of one worker has now. */
async function worker(): Promise<number> {
  const signal = patience()
  for (;;) {
    const [pid] = await children()
    if (pid !== undefined) return pid
    await sleep(1, undefined, { signal })
  }
}

async function requestFor(task: Task, runtime: EpisodeRuntime): Promise<ReplayRequest> {
  const say = (script: readonly string[]) =>
    runEpisode(task, createReferenceSource(script, runtime), runtime, AMPLE, patience())
  const rollouts = [await say(groundTruthScript(task)), await say(task.turns.map(() => 'No.'))]
  const body = bodyOf(task, rollouts)
  const { leaseId, policyId } = body
  return {
    bytes: groupBody.encode(body),
    expected: { leaseId, policyId, task, groupSize: rollouts.length, limits: AMPLE },
    announced: {
      rewards: rollouts.map(({ reward }) => reward.total),
      tokensGenerated: rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0),
    },
    reward: runtime.reward.name,
  }
}

test.before(async (context) => {
  const tokenizer = await openTokenizer(MODEL)
  const runtime = runtimeOf([CATALOGUE.get(ENVIRONMENT)!], tokenizer)
  const [example] = streamExamples(
    contextFor([CATALOGUE.get(ENVIRONMENT)!], DEMO_PROFILE, 1, createSeedStateCache()),
    'train',
    1,
  )
  const understood: string[] = []
  const { vocabularySize, chatTemplate } = tokenizer
  const pool = createReplayPool({
    workers: 1,
    setup: {
      base: { path: MODEL, vocabularySize, chatTemplate },
      ...{
        toolCallFormat: runtime.toolCallFormat.name,
        reward: runtime.reward.name,
        environments: [ENVIRONMENT],
        outside: [],
      },
    },
    watch: listener(understood),
    logger: silentLogger,
  })
  Object.assign(context, {
    tokenizer,
    runtime,
    pool,
    understood,
    request: await requestFor(example!.task, runtime),
  })
})
test.after(async ({ pool, tokenizer }) => {
  await pool.close()
  // One that was stopped is killed after a second.
  while ((await children()).length > 0) await sleep(10, undefined, { signal: patience() })
  await tokenizer.close()
})

/** Returns the refusal, or the rollouts. */
const judgedBy = (replays: Replays, request: ReplayRequest): Promise<unknown> =>
  replays
    .judge(request, patience())
    .then((rollouts) => rollouts.map((rollout) => ({ ...rollout, mask: [...rollout.mask] })))
    .catch((why: unknown) => {
      assert.instance(why, SwarmRefusal)
      const { code, detail, effect } = why as SwarmRefusal
      return { code, detail, effect }
    })

test('a process that ends during a replay costs the time of another start, and the group gets its verdict', async (context) => {
  const { pool, request, runtime } = context
  const judging = judgedBy(pool, request)
  const first = await worker()
  process.kill(first, 'SIGKILL')
  const judged = await judging
  assert.not.equal(await worker(), first)
  assert.equal(
    judged,
    await judgedBy(
      replaysHere(() => runtime, listener([])),
      request,
    ),
  )
})

test('lies are refused with the same code and detail as in the own thread, and the checks are reported', async (context) => {
  const { pool, request, runtime, understood } = context
  const lies: ReplayRequest[] = [
    { ...request, announced: { ...request.announced!, rewards: [9, 9] } },
    { ...request, expected: { ...request.expected, groupSize: 3 } },
    { ...request, bytes: request.bytes.slice(0, 40) },
  ]
  for (const lie of lies) {
    const own: string[] = []
    understood.length = 0
    assert.equal(
      await judgedBy(pool, lie),
      await judgedBy(
        replaysHere(() => runtime, listener(own)),
        lie,
      ),
    )
    assert.equal(understood, own)
    assert.match(own.at(-1)!, /refused/)
  }
})

test('who does not wait any more waits no longer, and the next group finds another process', async ({
  pool,
  request,
}) => {
  const stopped = await worker()
  // It answers nobody.
  process.kill(stopped, 'SIGSTOP')
  const reason = new Error('the coordinator is closing')
  const closing = new AbortController()
  const judging = pool.judge(request, closing.signal).catch((why: unknown) => why)
  closing.abort(reason)
  assert.is(await judging, reason)
  assert.instance(await judgedBy(pool, request), Array)
})

test('a group that ends two processes is given up, and not refused', async ({ pool, request }) => {
  // One that is at rest would answer before it can be ended.
  for (const pid of await children()) signalTo(pid, 'SIGSTOP')
  let judging = true
  const outcome = pool
    .judge(request, patience())
    .then(
      () => null,
      (why: Error) => why,
    )
    .finally(() => {
      judging = false
    })
  // Each that there is, as soon as it is there.
  for (const killed = new Set<number>(); judging; await sleep(1))
    for (const pid of await children()) {
      if (!killed.has(pid)) signalTo(pid, 'SIGKILL')
      killed.add(pid)
    }
  const why = await outcome
  assert.instance(why, Error)
  assert.not.instance(why, SwarmRefusal)
  assert.match(why!.message, /ended its process 2 times/)
  assert.instance(await judgedBy(pool, request), Array)
})

test.run()
