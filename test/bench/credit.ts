import { createHash } from 'node:crypto'
import { isZeroVariance } from '../../coordinator/intake/outcome.js'
import { creditFor } from '../../coordinator/ledger/credit.js'
import { DEFAULT_LIMITS, type Rollout, runGroup } from '../../rollout/episode/index.js'
import { openCheatEngine } from '../attackers/cheat-engine.js'
import { DEMO_MODEL, openDemoRuntime } from './demo-stage.js'
import type { BenchResult } from './result.js'

/** Number of groups per kind. */
const GROUPS = Number(process.env.PROVE_BENCH_GROUPS ?? 12)
const GROUP_SIZE = 8

/** Sampling settings for the same tasks and seeds, from the policy itself to almost pure noise. */
const KINDS = [
  { name: 'the policy itself', temperature: 1 },
  { name: 'half noise (temperature 1.6)', temperature: 1.6 },
  { name: 'noise (temperature 3)', temperature: 3 },
]

/** Measures the credit of groups of different use to the trainer, compared with their length. */
export async function run(): Promise<{ results: BenchResult[] }> {
  const signal = AbortSignal.timeout(20 * 60_000)
  const { runtime, tasks, close } = await openDemoRuntime(GROUPS)
  const results: BenchResult[] = []
  try {
    for (const { name, temperature } of KINDS) {
      const contextSize = DEFAULT_LIMITS.maxRolloutTokens
      const engine = await openCheatEngine({
        ...{ modelPath: DEMO_MODEL, adapter: null, slots: GROUP_SIZE },
        ...{ contextSize, temperature },
      })
      try {
        const groups: Rollout[][] = []
        for (const [i, task] of tasks.entries()) {
          const seed = createHash('sha256').update(`credit ${i}`).digest()
          groups.push(await runGroup(task, GROUP_SIZE, seed, engine, runtime, DEFAULT_LIMITS, signal))
        }
        results.push(...rowsOf(name, groups, runtime.reward.name))
      } finally {
        await engine.close()
      }
    }
  } finally {
    await close()
  }
  return { results }
}

function rowsOf(name: string, groups: readonly Rollout[][], reward: string): BenchResult[] {
  const rewards = groups.map((rollouts) => rollouts.map((rollout) => rollout.reward.total))
  const tokens = groups.map((rollouts) => rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0))
  const credit = rewards.map((own) => creditFor({ rewards: own, reward, late: 0 }))
  const perRollout = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / (groups.length * GROUP_SIZE)
  const taught = rewards.filter((own) => !isZeroVariance(own)).length
  return [
    { metric: `${name}: groups with reward variance`, value: taught, unit: `of ${groups.length}` },
    { metric: `${name}: reward`, value: perRollout(rewards.flat()), unit: 'a rollout' },
    { metric: `${name}: sampled tokens`, value: perRollout(tokens), unit: 'a rollout' },
    { metric: `${name}: credit`, value: perRollout(credit), unit: 'a rollout' },
    { metric: `${name}: most credit of one group`, value: Math.max(...credit), unit: `of ${10 * GROUP_SIZE}` },
  ]
}
