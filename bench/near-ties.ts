import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pino from 'pino'
import { type AuditDesk, auditGroups } from '../coordinator/intake/audit-run.js'
import { Standing } from '../coordinator/ledger/standing.js'
import { createAuditProcess } from '../coordinator/spool/audit-process.js'
import { openTokenizer } from '../engine/index.js'
import { createStage, DEFAULT_LIMITS, DEFAULT_RULES, type Rollout, rulesNamed, runGroup } from '../episode/index.js'
import { measureGroup, type SampledToken } from '../judging/evidence.js'
import { judgeStatistics } from '../judging/judge-statistics.js'
import { expectedRepair, sumRepairs } from '../judging/repair-sums.js'
import { type Calibration, PRIOR, parseCalibration } from '../judging/thresholds.js'
import { openCheatEngine } from '../test/attackers/cheat-engine.js'
import { demoTasks } from './audit-tasks.js'
import type { BenchResult } from './result.js'

/** More make the numbers surer. */
const GROUPS = Number(process.env.PROVE_BENCH_GROUPS ?? 16)
const GROUP_SIZE = 8
/** The same draws at temperatures as near to the announced one as this: what differs are choices among near ties. */
const TEMPERATURES = [1, 0.98, 0.99, 1.01, 1.02]
/** Of what the repairs of one group may come to. */
const PARTS = [1, 0.5, 0.2]
const MOST_AUDITS = 2000

const root = fileURLToPath(new URL(import.meta.url.includes('/dist/') ? '../../' : '../', import.meta.url))
const MODEL = join(root, 'models', 'demo', 'prove-demo-base-f16.gguf')
const CALIBRATION = join(root, 'models', 'demo', 'calibration-f16.json')

/** A rollout as it came out at one temperature, with the evidence on its tokens; its claims are what the policy gives them. */
interface Version {
  readonly rollout: Rollout
  readonly tokens: readonly SampledToken[]
  readonly repair: number
}

/** The versions of each rollout of a group, the one of the announced temperature first. */
type PlayedGroup = readonly (readonly Version[])[]

/**
 * What it brings to choose among near ties for the reward: each group is played at five temperatures with the draws of one lease, and the
 * better rollouts are taken as far as a part of a group's limit of repairs goes and the group still passes its audit.
 */
export async function run(): Promise<{ results: BenchResult[] }> {
  const calibration = parseCalibration(await readFile(CALIBRATION, 'utf8'))
  const played = await playGroups()
  return { results: PARTS.flatMap((part) => rowsFor(part, played, calibration)) }
}

function rowsFor(part: number, played: readonly PlayedGroup[], calibration: Calibration): BenchResult[] {
  const expected = expectedRepair(calibration)
  const steered = played.map((group) => steer(group, part, calibration))
  const sums = steered.map((chosen) =>
    sumRepairs(
      chosen.flatMap(({ tokens }) => tokens),
      chosen.map(({ rollout, tokens }) => ({ sampled: tokens.length, reward: rollout.reward.total })),
      expected,
    ),
  )
  const gains = steered.map((chosen, i) => meanReward(chosen) - meanReward(played[i]!.map(([honest]) => honest!)))
  const tokens = steered.flat().reduce((total, version) => total + version.tokens.length, 0)
  const choices = steered.flat().reduce((total, version) => total + misses(version), 0)
  const exchanged = steered.flatMap((chosen, i) => chosen.filter((version, k) => version !== played[i]![k]![0])).length
  const name = `${100 * part} % of a group's limit`
  return [
    { metric: `${name}: rollouts exchanged, of ${GROUP_SIZE}`, value: exchanged / steered.length, unit: 'a group' },
    { metric: `${name}: choices`, value: (1000 * choices) / tokens, unit: 'per 1,000 tokens' },
    { metric: `${name}: reward gained`, value: average(gains), unit: 'a group' },
    { metric: `${name}: caught after`, value: auditsUntilCaught(sums), unit: 'audited groups' },
  ]
}

/** The best of each rollout, but for those that bring least for their repair, until the group passes. */
function steer(group: PlayedGroup, part: number, { thresholds }: Calibration): Version[] {
  const honest = group.map(([first]) => first!)
  const chosen = group.map((versions) =>
    versions.reduce((best, one) => (one.rollout.reward.total > best.rollout.reward.total ? one : best)),
  )
  const worthOf = (k: number): number =>
    (chosen[k]!.rollout.reward.total - honest[k]!.rollout.reward.total) / Math.max(chosen[k]!.repair, 1e-9)
  for (;;) {
    const tokens = chosen.flatMap((version) => version.tokens)
    const evidence = tokens.reduce((sum, token) => sum + token.evidence, 0)
    const repair = chosen.reduce((sum, version) => sum + version.repair, 0)
    const isWithin = repair <= part * thresholds.all.repair * (evidence + PRIOR)
    const exchanged = [...chosen.keys()].filter((k) => chosen[k] !== honest[k])
    if (exchanged.length === 0 || (isWithin && judgeStatistics(measureGroup(tokens), thresholds).accepted))
      return chosen
    const least = exchanged.reduce((worst, k) => (worthOf(k) < worthOf(worst) ? k : worst))
    chosen[least] = honest[least]!
  }
}

/** By a real standing; the groups come again and again. */
function auditsUntilCaught(sums: readonly ReturnType<typeof sumRepairs>[]): number {
  const standing = new Standing()
  for (let i = 0; i < MOST_AUDITS; i++) if (standing.addsUp(sums[i % sums.length]!, 0)) return i + 1
  return Number.POSITIVE_INFINITY
}

const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
const meanReward = (versions: readonly Version[]): number =>
  average(versions.map(({ rollout }) => rollout.reward.total))
const misses = ({ tokens }: Version): number => tokens.filter(({ repair }) => repair > 0).length

async function playGroups(): Promise<PlayedGroup[]> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-bench-'))
  const signal = AbortSignal.timeout(3_600_000)
  const spool = join(folder, 'spool')
  await mkdir(spool)
  const baseSha256 = createHash('sha256')
    .update(await readFile(MODEL))
    .digest('hex')
  const config = join(folder, 'trainer.json')
  await writeFile(config, JSON.stringify({ schema: 1, baseSha256 }))
  const python = join(root, '.venv', 'bin', 'python')
  const packageFolder = join(root, 'coordinator', 'trainer')
  const auditor = createAuditProcess(
    { python, packageFolder, spool, base: MODEL, config, maxFailures: 2, timeoutMs: 600_000 },
    pino({ level: 'warn' }, pino.destination(2)),
  )
  const tokenizer = await openTokenizer(MODEL)
  try {
    const { tasks, servers } = demoTasks(GROUPS)
    const stage = createStage(servers, tokenizer, rulesNamed(DEFAULT_RULES))
    const desk: AuditDesk = { process: auditor, spool, baseSha256, reader: stage, limits: DEFAULT_LIMITS }
    const { maxRolloutTokens: contextSize } = DEFAULT_LIMITS
    const versions: Version[][][] = Array.from({ length: GROUPS }, () => Array.from({ length: GROUP_SIZE }, () => []))
    for (const temperature of TEMPERATURES) {
      const engine = await openCheatEngine({
        modelPath: MODEL,
        adapter: null,
        lanes: GROUP_SIZE,
        contextSize,
        temperature,
      })
      try {
        for (let i = 0; i < GROUPS; i++) {
          const leaseSeed = createHash('sha256').update(`near ties ${i}`).digest()
          const task = tasks[i % tasks.length]!
          const rollouts = await runGroup(task, GROUP_SIZE, leaseSeed, engine, stage, DEFAULT_LIMITS, signal)
          const group = { leaseId: `near-ties-${i}`, leaseSeed, rollouts }
          const [evidence] = await auditGroups(desk, null, [group], signal)
          let at = 0
          for (const [k, rollout] of rollouts.entries()) {
            const own = evidence!.slice(at, at + rollout.logprobs.length)
            at += rollout.logprobs.length
            const tokens = own.map((token) => ({ ...token, claimed: token.logp }))
            const repair = tokens.reduce((sum, token) => sum + token.repair, 0)
            versions[i]![k]!.push({ rollout, tokens, repair })
          }
        }
      } finally {
        await engine.close()
      }
    }
    return versions
  } finally {
    await auditor.close()
    await tokenizer.close()
    await rm(folder, { recursive: true, force: true })
  }
}
