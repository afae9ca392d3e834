import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type AuditService, auditGroups } from '../coordinator/intake/audit-run.js'
import type { AdapterFile, Engine } from '../rollout/engine/types.js'
import type { EpisodeRuntime } from '../rollout/episode/episode-runtime.js'
import type { Rollout } from '../rollout/episode/rollout.js'
import { runGroup } from '../rollout/episode/run-group.js'
import type { Task } from '../rollout/episode/task.js'
import { fitLogitErrorTail } from '../rollout/verification/logit-error-tail.js'
import { type GroupStatistics, measureGroup } from '../rollout/verification/sampled-token.js'
import type { AuditedGroup } from '../rollout/verification/sampled-turns.js'
import {
  type Calibration,
  type CalibrationSubject,
  describeHonest,
  fitThresholds,
} from '../rollout/verification/thresholds.js'
import { measureFalseRefusals } from '../rollout/verification/verify-statistics.js'
import { type CanaryMeasurement, measureCanaries } from './calibrate-canaries.js'
import { openJournal } from './journal.js'

export interface CalibrationSettings {
  readonly groups: number
  /** Rollouts per group. */
  readonly groupSize: number
  /** Seed of all groups. */
  readonly seed: number
  /** Largest acceptable share of falsely rejected honest groups. */
  readonly goal: number
  readonly confidence: number
}

export interface CalibrationParts {
  readonly subject: CalibrationSubject
  /** Adapters of the subject, in its order. */
  readonly adapters: readonly AdapterFile[]
  /** Engines with one backend. Each plays one group at a time, so their number does not affect the results. */
  readonly engines: readonly Engine[]
  readonly runtime: EpisodeRuntime
  readonly service: AuditService
  /** Canaries, and their reference scores, see `measureCanaries`. */
  readonly canaries: Pick<CanaryMeasurement, 'canaries' | 'reference'>
  /** Settings of the auditor, such as device and precision. They are part of the journal's description of the work. */
  readonly auditing: Readonly<Record<string, unknown>>
  /** Group i plays task i modulo their number. */
  readonly tasks: readonly Task[]
  /** File with the statistics of the groups so far, from which an interrupted calibration resumes. */
  readonly journal: string
  /** Reports the number of sampled groups, audited or not. */
  onSampled(done: number, wanted: number): void
  /** Reports the number of audited groups. */
  onProgress(done: number, wanted: number): void
  /** Reports the number of scored canaries. */
  onCanary(done: number, wanted: number): void
}

/** Groups per audit: enough to share the loading of a policy, few enough to lose little at an interruption. */
const CHUNK = 8

/**
 * Generates honest groups with the engine, audits them, and fits thresholds to the audits. Chunks of groups alternate between the base
 * model and the adapters, so that every policy has an equal share at any time. Resumes from `journal`. Samples the next chunk during the
 * audit of the current one. Then measures canaries under every policy.
 * @throws JournalError; EngineError, TrainerError, the signal's reason
 */
export async function calibrate(
  parts: CalibrationParts,
  settings: CalibrationSettings,
  signal: AbortSignal,
): Promise<Calibration> {
  const { engines, adapters, journal, subject } = parts
  const { earlier, add } = await openJournal<GroupStatistics>(journal, workOf(parts, settings), journalLine)
  const statistics = earlier.slice(0, settings.groups)
  parts.onProgress(statistics.length, settings.groups)
  const policies = [null, ...adapters]
  parts.onSampled(statistics.length, settings.groups)
  let auditing = Promise.resolve()
  // If an audit fails while the next chunk is sampled, the error is thrown after the sampling.
  const audit = async (policy: AdapterFile | null, groups: readonly AuditedGroup[]): Promise<void> => {
    const found = (await auditGroups(parts.service, policy?.sha256 ?? null, groups, signal)).map(measureGroup)
    await add(found)
    statistics.push(...found)
    parts.onProgress(statistics.length, settings.groups)
  }
  for (let from = statistics.length; from < settings.groups; ) {
    const chunk = Math.floor(from / CHUNK)
    const end = Math.min((chunk + 1) * CHUNK, settings.groups)
    const policy = policies[chunk % policies.length]!
    await Promise.all(engines.map((engine) => engine.usePolicy(policy, signal)))
    const groups = await honestGroups(from, end, parts, settings, signal)
    await auditing
    auditing = audit(policy, groups)
    auditing.catch(() => undefined)
    from = end
  }
  await auditing
  const [engine] = engines
  const measurement = { ...parts.canaries, engine: engine!, adapters, onProgress: parts.onCanary }
  return summarise(statistics, await measureCanaries(measurement, signal), subject, settings)
}

/** Generates the groups `from` to before `end`, in order. */
async function honestGroups(
  from: number,
  end: number,
  parts: CalibrationParts,
  settings: CalibrationSettings,
  signal: AbortSignal,
): Promise<AuditedGroup[]> {
  const groups: AuditedGroup[] = []
  let next = from
  let done = from
  await Promise.all(
    parts.engines.map(async (engine) => {
      while (next < end) {
        const index = next++
        groups[index - from] = await honestGroup(index, { ...parts, engine }, settings, signal)
        parts.onSampled(++done, settings.groups)
      }
    }),
  )
  return groups
}

/** A group as it was generated, with its rewards. */
export interface GeneratedGroup extends AuditedGroup {
  readonly rollouts: readonly Rollout[]
}

/** Generates a group as an honest node does. Its seed depends on the calibration's seed and the group's index only. */
export async function honestGroup(
  index: number,
  {
    tasks,
    engine,
    runtime,
    service,
  }: Pick<CalibrationParts, 'tasks' | 'runtime' | 'service'> & { readonly engine: Engine },
  { groupSize, seed }: Pick<CalibrationSettings, 'groupSize' | 'seed'>,
  signal: AbortSignal,
): Promise<GeneratedGroup> {
  const task = tasks[index % tasks.length]!
  const leaseSeed = createHash('sha256')
    .update(JSON.stringify(['prove/calibration/1', seed, index]))
    .digest()
  const rollouts = await runGroup(task, groupSize, leaseSeed, engine, runtime, service.limits, signal)
  return { leaseId: `calibration-${index}`, leaseSeed, rollouts }
}

/** Returns the journal's description of the work. */
function workOf({ subject, tasks, service, auditing }: CalibrationParts, settings: CalibrationSettings): unknown {
  const { groupSize, seed } = settings
  const taskIds = createHash('sha256')
    .update(tasks.map(({ id }) => id).join())
    .digest('hex')
  return { schema: 4, subject, auditing, making: { groupSize, seed }, limits: service.limits, taskIds }
}

function summarise(
  statistics: readonly GroupStatistics[],
  canary: Calibration['canary'],
  subject: CalibrationSubject,
  { goal, confidence }: CalibrationSettings,
): Calibration {
  return {
    schema: 5,
    subject,
    groups: statistics.length,
    sampledTokens: statistics.reduce((sum, { all }) => sum + all.tokens, 0),
    thresholds: fitThresholds(statistics, goal),
    logitErrorTail: fitLogitErrorTail(statistics.map(({ all }) => all)),
    canary,
    honest: describeHonest(statistics),
    falseRefusals: { goal, confidence, ...measureFalseRefusals(statistics, goal, confidence) },
  }
}

const finite = z.number()
const tokenStatistics = z.strictObject({
  tokens: z.int().min(0),
  sensitivity: finite,
  deviation: finite,
  bias: finite,
  claims: z.array(finite),
  expectedMismatch: finite,
  misses: z.int().min(0),
  logitError: finite,
  logitErrors: z.array(finite),
})
const journalLine = z.strictObject({ all: tokenStatistics, arguments: tokenStatistics, leastEnd: finite })
