import type { PrivateKey } from '@libp2p/interface'
import { createReplayPool } from '../../coordinator/intake/replay-pool.js'
import { type Replays, replaysHere } from '../../coordinator/intake/replays.js'
import { peerIdOfKey } from '../../proto/index.js'
import { UNWATCHED } from '../../rollout/verification/index.js'
import { createStderrLogger } from '../../swarm/index.js'
import { DEMO_MODEL, type DemoRuntime } from './demo-stage.js'
import { type MadeGroup, makeGroup } from './judge-groups.js'
import type { BenchResult } from './result.js'

const ROUNDS = 5

/** Measures the CPU time of the coordinator's process for the replay of a group, in that process and in a worker process. */
export async function measureWorkers({ runtime, tasks }: DemoRuntime, key: PrivateKey): Promise<BenchResult[]> {
  const groups: MadeGroup[] = []
  for (const [i, task] of tasks.entries()) groups.push(await makeGroup(task, i, runtime, key, peerIdOfKey(key)))
  const { tokenizer, toolCallFormat, reward, catalogue } = runtime
  const { vocabularySize, chatTemplate } = tokenizer
  const pool = createReplayPool({
    workers: 1,
    setup: {
      base: { path: DEMO_MODEL, vocabularySize, chatTemplate },
      ...{ toolCallFormat: toolCallFormat.name, reward: reward.name, environments: [...catalogue.keys()], outside: [] },
    },
    watch: UNWATCHED,
    logger: createStderrLogger('warn'),
  })
  const line = (where: string, value: number): BenchResult => ({
    ...{ metric: `a group replayed ${where}: of the coordinator's process`, value, unit: 'ms of CPU' },
  })
  try {
    const own = await processorMs(
      replaysHere(() => runtime, UNWATCHED),
      groups,
      reward.name,
    )
    const beside = await processorMs(pool, groups, reward.name)
    return [
      line('in its own thread', own),
      { ...line('by a worker', beside), peer: 'its own thread', ratio: beside / own },
    ]
  } finally {
    await pool.close()
  }
}

/** Returns milliseconds of this process per group, the best of several rounds. Every group is new in its round. */
async function processorMs(replays: Replays, groups: readonly MadeGroup[], reward: string): Promise<number> {
  const { signal } = new AbortController()
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round <= ROUNDS; round++) {
    const before = process.cpuUsage()
    for (const { bytes, expected } of groups) {
      const fresh = { ...expected, task: { ...expected.task } }
      await replays.judge({ bytes, expected: fresh, announced: null, reward }, signal)
    }
    const { user, system } = process.cpuUsage(before)
    // The first group starts the worker and compiles the code.
    if (round > 0) best = Math.min(best, (user + system) / 1000 / groups.length)
  }
  return best
}
