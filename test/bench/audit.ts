import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { offerAdapter } from '../../coordinator/jobs/audit-folder.js'
import { DEFAULT_LIMITS, runGroup, type Task } from '../../rollout/episode/index.js'
import { quantile, shareOf } from '../../rollout/verification/chances.js'
import { type GroupStatistics, measureGroup, type SampledToken } from '../../rollout/verification/sampled-token.js'
import type { AuditedGroup } from '../../rollout/verification/sampled-turns.js'
import { fitThresholds, parseCalibration, type Thresholds } from '../../rollout/verification/thresholds.js'
import { measureFalseRefusals, verifyStatistics } from '../../rollout/verification/verify-statistics.js'
import { openCheatEngine } from '../attackers/cheat-engine.js'
import { type CheatSetting, cherryPick, editArgument } from '../attackers/group-cheats.js'
import { type Evidence, openAuditStage } from './audit-stage.js'
import { CHECKOUT, DEMO_MODEL, PYTHON, TRAINER_FOLDER } from './demo-stage.js'
import type { BenchResult } from './result.js'

/** Numbers of honest groups for the thresholds and of groups per kind of cheating. Larger numbers give narrower intervals. */
const HONEST = Number(process.env.PROVE_BENCH_HONEST ?? 120)
const CHEATING = Number(process.env.PROVE_BENCH_CHEATING ?? 30)
/** A calibration file for the verdicts. Without it, thresholds are fitted to the honest groups of this benchmark. */
const CALIBRATION = process.env.PROVE_BENCH_CALIBRATION
/** Rollouts per group: nearly all groups then have `MIN_SAMPLED` tokens. */
const GROUP_SIZE = 10
const MIN_SAMPLED = 500
const GOAL = 0.005
const CONFIDENCE = 0.95
const SEED = 1
/** Size of the changes, as a share of a matrix's standard deviation and of the random adapter's entries: a few tenths of a nat. */
const NOISE = 0.1
const ADAPTER_SIZE = 0.1

/**
 * Measures how often audits catch groups that were not generated as announced, and how often they reject honest groups. The real engine
 * generates all groups with the demo model. Forged claims replace honest ones. Where claims could reveal a cheat, the cheat is also
 * verified with exactly the claims of the announced policy.
 */
export async function run(): Promise<{ results: BenchResult[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-bench-'))
  const signal = AbortSignal.timeout(2 * 3_600_000)
  const bench = await openBench(folder)
  try {
    const results: BenchResult[] = []
    const honest = await bench.honest(DEMO_MODEL, null, 0, HONEST, signal)
    const statistics = honest.tokens.map(measureGroup)
    const thresholds = CALIBRATION
      ? parseCalibration(await readFile(CALIBRATION, 'utf8')).thresholds
      : fitThresholds(statistics, GOAL)
    const refused = CALIBRATION
      ? statistics.filter((group) => !verifyStatistics(group, thresholds).accepted).length
      : measureFalseRefusals(statistics, GOAL, CONFIDENCE).measured.count
    results.push(row('honest groups refused', refused, statistics.length))
    process.stderr.write(`${results.map(line).join('\n')}\n`)

    for await (const [name, audit, claims] of cheats(bench, honest, signal)) {
      const rows = caught(name, audit, thresholds, claims)
      process.stderr.write(`${rows.map(line).join('\n')}\n`)
      results.push(...rows)
    }
    return { results }
  } finally {
    await bench.close()
    await rm(folder, { recursive: true, force: true })
  }
}

type Claims = 'own and true' | 'own'

async function* cheats(
  bench: Bench,
  honest: Evidence,
  signal: AbortSignal,
): AsyncGenerator<readonly [string, Evidence, Claims]> {
  const forge = (change: (token: SampledToken, i: number, all: readonly SampledToken[]) => number): Evidence => ({
    groups: honest.groups,
    tokens: honest.tokens.map((tokens) =>
      tokens.map((token, i) => ({ ...token, claimed: Math.min(0, change(token, i, tokens)) })),
    ),
  })
  yield ['claims of -0.05 throughout', forge(() => -0.05), 'own']
  yield ['claims 0.02 nats too low', forge(({ claimed }) => claimed - 0.02), 'own']
  yield ['argument claims 0.05 nats too low', forge((t) => t.claimed - (t.argument ? 0.05 : 0)), 'own']
  yield ["claims of the token's neighbour", forge((_, i, all) => all[(i + 1) % all.length]!.claimed), 'own']

  for (const [name, temperature] of [
    ['greedy decoding', 0],
    ['temperature 0.7', 0.7],
    ['temperature 1.3', 1.3],
  ] as const) {
    yield [name, await bench.atTemperature(temperature, CHEATING, signal), 'own and true']
  }
  yield ['one argument token edited in a group', await bench.edited(1, CHEATING, signal), 'own and true']
  yield ['one argument token edited in every rollout', await bench.edited(GROUP_SIZE, CHEATING, signal), 'own and true']
  yield ['the best of 4', await bench.cherryPicked(CHEATING, signal), 'own']
  const { noisy, adapter, adapterSha256 } = await bench.otherModels()
  yield [
    `another model: weights with ${100 * NOISE} % noise`,
    await bench.honest(noisy, null, 30_000, CHEATING, signal, null),
    'own and true',
  ]
  yield [
    'adapter left out',
    await bench.honest(DEMO_MODEL, null, 40_000, CHEATING, signal, adapterSha256),
    'own and true',
  ]
  yield [
    'another adapter, where none is announced',
    await bench.honest(DEMO_MODEL, adapter, 50_000, CHEATING, signal, null),
    'own and true',
  ]
}

/** Returns the groups of at least `MIN_SAMPLED` tokens. */
function caught(name: string, { tokens }: Evidence, thresholds: Thresholds, claims: Claims): BenchResult[] {
  const large = tokens.filter(({ length }) => length >= MIN_SAMPLED)
  const judge = (group: GroupStatistics): boolean => !verifyStatistics(group, thresholds).accepted
  const statistics = large.map(measureGroup)
  const rows = [row(`${name}: caught`, statistics.filter(judge).length, large.length)]
  if (claims === 'own') return rows
  rows.push({
    metric: `${name}: claims off by`,
    value: quantile(statistics.map(disturbance), 0.5),
    unit: 'nats, median',
  })
  const truthful = large.map((group) => group.map((token) => ({ ...token, claimed: token.logp })))
  const replay = truthful.filter((group) => judge(measureGroup(group))).length
  return [...rows, row(`${name}, true log-probabilities claimed: caught`, replay, large.length)]
}

/** Returns the mean logit error, in nats, that the claims imply. */
const disturbance = ({ all }: GroupStatistics): number => all.deviation / all.sensitivity

function row(metric: string, count: number, of: number): BenchResult {
  const { share, low, high } = shareOf(count, of, CONFIDENCE)
  const percent = (value: number): string => (100 * value).toFixed(1)
  return { metric, value: 100 * share, unit: `% of ${of} groups (95 %: ${percent(low)} to ${percent(high)})` }
}

const line = ({ metric, value, unit }: BenchResult): string => `${metric}: ${Number(value.toPrecision(3))} ${unit}`

interface Bench {
  /**
   * Generates groups as a node with this model and adapter, audited under the policy of `announced` (default: the adapter).
   * @param from  number of the first group, which determines tasks and noise
   */
  honest(
    model: string,
    adapter: string | null,
    from: number,
    count: number,
    signal: AbortSignal,
    announced?: string | null,
  ): Promise<Evidence>
  atTemperature(temperature: number, count: number, signal: AbortSignal): Promise<Evidence>
  edited(rollouts: number, count: number, signal: AbortSignal): Promise<Evidence>
  cherryPicked(count: number, signal: AbortSignal): Promise<Evidence>
  otherModels(): Promise<{ noisy: string; adapter: string; adapterSha256: string }>
  close(): Promise<void>
}

async function openBench(folder: string): Promise<Bench> {
  const stage = await openAuditStage(folder, {
    ...{ tasks: Math.max(HONEST, CHEATING), groupSize: GROUP_SIZE, seed: SEED },
  })
  const { jobs, tasks, runtime, made, audited } = stage
  const taskOf = (index: number): Task => tasks[index % tasks.length]!

  return {
    honest: (model, adapter, from, count, signal, announced = null) =>
      stage.withEngine(model, 'f16', async (engine) => {
        const file = adapter === null ? null : { path: adapter, sha256: sha256(await readFile(adapter)) }
        await engine.usePolicy(file, signal)
        const groups: AuditedGroup[] = []
        for (let i = from; i < from + count; i++) groups.push(await made(i, engine, signal))
        return audited(groups, announced, signal)
      }),
    async atTemperature(temperature, count, signal) {
      const cheat = await openCheatEngine({
        modelPath: DEMO_MODEL,
        adapter: null,
        slots: GROUP_SIZE,
        contextSize: DEFAULT_LIMITS.maxRolloutTokens,
        temperature,
      })
      try {
        const groups: AuditedGroup[] = []
        for (let i = 0; i < count; i++) {
          const leaseSeed = createHash('sha256').update(`temperature ${temperature} ${i}`).digest()
          const rollouts = await runGroup(taskOf(i), GROUP_SIZE, leaseSeed, cheat, runtime, DEFAULT_LIMITS, signal)
          groups.push({ leaseId: `temperature-${i}`, leaseSeed, rollouts })
        }
        return await audited(groups, null, signal)
      } finally {
        await cheat.close()
      }
    },
    edited: (rollouts, count, signal) =>
      stage.withEngine(DEMO_MODEL, 'f16', async (engine) => {
        const groups: AuditedGroup[] = []
        const setting: CheatSetting = { runtime, limits: DEFAULT_LIMITS, engine, signal }
        for (let i = 10_000; groups.length < count; i++) {
          const group = await made(i, engine, signal)
          const changed = [...group.rollouts]
          let edits = 0
          for (let k = 0; k < changed.length && edits < rollouts; k++) {
            const edited = await editArgument(taskOf(i), group, k, setting)
            if (edited === null) continue
            changed[k] = edited.rollout
            edits++
          }
          if (edits > 0) groups.push({ ...group, rollouts: changed })
        }
        return audited(groups, null, signal)
      }),
    cherryPicked: (count, signal) =>
      stage.withEngine(DEMO_MODEL, 'f16', async (engine) => {
        const groups: AuditedGroup[] = []
        for (let i = 20_000; i < 20_000 + count; i++) {
          const leaseSeed = createHash('sha256').update(`best of 4 ${i}`).digest()
          const setting: CheatSetting = { runtime, limits: DEFAULT_LIMITS, engine, signal }
          const rollouts = await cherryPick(taskOf(i), GROUP_SIZE, leaseSeed, setting)
          groups.push({ leaseId: `best-${i}`, leaseSeed, rollouts })
        }
        return audited(groups, null, signal)
      }),
    async otherModels() {
      const settings = ['--noise', String(NOISE), '--adapter-size', String(ADAPTER_SIZE)]
      const script = join(CHECKOUT, 'test', 'attackers', 'models.py')
      await execa(PYTHON, [script, DEMO_MODEL, folder, ...settings], { env: { PYTHONPATH: TRAINER_FOLDER } })
      const adapter = process.env.PROVE_BENCH_ADAPTER ?? join(folder, 'adapter.gguf')
      const adapterSha256 = await offerAdapter(jobs, await readFile(adapter))
      return {
        noisy: join(folder, 'noisy.gguf'),
        adapter: join(jobs, 'adapters', `${adapterSha256}.gguf`),
        adapterSha256,
      }
    },
    close: () => stage.close(),
  }
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
