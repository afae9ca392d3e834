import { CodedError } from '../../common/errors/index.js'
import {
  type AdapterFile,
  type EngineOptions,
  type EngineProcess,
  openEngine,
  USUAL_CACHE,
} from '../../rollout/engine/index.js'
import {
  type EpisodeLimits,
  type EpisodeRuntime,
  type EvaluationSettings,
  estimate,
  evaluatePolicy,
  type HeldOutSet,
  hasCapacity,
  type Task,
} from '../../rollout/episode/index.js'
import type { BlobStore, Clock } from '../../swarm/index.js'
import type { EventOf } from '../ledger/events.js'
import type { Recorder } from '../ledger/recorder.js'
import type { RunConfiguration } from '../ledger/run-configuration.js'
import type { Publication, RunState } from '../ledger/run-state.js'
import { ConfigError, episodeLimits, type RunConfig } from '../settings/config.js'
import { readTaskSet } from '../settings/task-set.js'

/** A version gets no score, and the run continues. */
export interface NoScore {
  readonly type: 'no-score'
  readonly version: number
  readonly why: string
}

/** Score of a version on held-out tasks. */
export type Score = Omit<EventOf<'scored'>, 'type' | 'atMs'>

/** Rollouts that are sampled together. More gain little on the few threads next to training. */
const SLOTS = 8
/** The same seed for every version, so that two scores differ only by the policy. */
const SEED = 0
/** Time after which a score is given up: the engine hangs, or the settings ask for too much. */
const MOST_MS = 6 * 3_600_000
const TICK_MS = 1000
/** Fewer tasks have no standard error. */
const LEAST_TASKS = 2

export interface HeldOutParts {
  readonly config: Pick<RunConfig, 'heldOut' | 'base'>
  /** Held-out tasks, in the order of the data set. */
  readonly tasks: readonly Task[]
  /** Returns the runtime for a reward preset. */
  readonly runtimeOf: (reward: string) => EpisodeRuntime
  readonly recorder: Pick<Recorder, 'record' | 'state'>
  readonly blobs: Pick<BlobStore, 'path'>
  readonly clock: Pick<Clock, 'now' | 'sleep' | 'timeout'>
  readonly onProgress: (progress: NoScore) => void
  readonly open?: (options: EngineOptions) => Promise<Pick<EngineProcess, 'usePolicy' | 'openSlots' | 'close'>>
}

/**
 * Reads the tasks by which versions are scored; none if scoring is off.
 * @throws ConfigError when too few tasks of the data set fit the run's limits
 */
export async function heldOutTasks(config: RunConfig, runtime: EpisodeRuntime): Promise<readonly Task[]> {
  const { tasks: wanted } = config.heldOut
  if (wanted === 0) return []
  const { tasks } = await readTaskSet(config.tasks.dataset, 'held-out', wanted)
  const limits = episodeLimits(config)
  if (tasks.filter((task) => hasCapacity(task, runtime, limits)).length >= LEAST_TASKS) return tasks
  throw new ConfigError(
    `heldOut.tasks: of the first ${wanted} held-out tasks of ${config.tasks.dataset.join(', ')}, fewer than ${LEAST_TASKS} fit the run's limits: set it to 0, or synthesize more tasks`,
  )
}

/**
 * Scores versions at the configured interval, and the last one, until the signal fires. When several are due, scores only the newest,
 * because a run may be faster than its scores. An engine that fails only costs a version its score.
 * @returns  once the last version has its score, or can have none
 */
export async function scoreVersions(parts: HeldOutParts, signal: AbortSignal): Promise<void> {
  const { config, tasks, recorder, clock, onProgress } = parts
  const { state } = recorder
  if (tasks.length === 0) return
  let givenUp = -1
  while (!signal.aborted) {
    const due = dueVersion(state, config.heldOut.every)
    if (due && due.version > givenUp) {
      const timeUp = clock.timeout(MOST_MS)
      try {
        const score = await scoreOf(due, parts, AbortSignal.any([signal, timeUp]))
        await recorder.record(() => ({ type: 'scored', atMs: clock.now(), ...score }))
      } catch (error) {
        if (signal.aborted) return
        if (!timeUp.aborted && !(error instanceof CodedError)) throw error
        givenUp = due.version
        const why = timeUp.aborted ? `it took longer than ${MOST_MS / 3_600_000} hours` : (error as Error).message
        onProgress({ type: 'no-score', version: due.version, why })
      }
    } else if (state.current && state.current.version >= state.configuration!.versions) return
    else await clock.sleep(TICK_MS, signal).catch(() => undefined)
  }
}

function dueVersion({ publications, scores, configuration }: RunState, every: number): Publication | undefined {
  const scored = scores.at(-1)?.version ?? -1
  return publications.findLast(
    ({ version }) => version > scored && (version % every === 0 || version >= configuration!.versions),
  )
}

const evaluationSettings = (limits: EpisodeLimits): EvaluationSettings => ({
  ...{ samplesPerTask: 1, slots: SLOTS, seed: SEED, temperature: 1 },
  limits,
})

/** Returns how versions are scored under a run configuration, for publication; null: the run scores no versions. */
export function heldOutSet(tasks: readonly Task[], configuration: RunConfiguration): HeldOutSet | null {
  if (tasks.length === 0) return null
  const { limits, toolCallFormat, reward, cacheType = USUAL_CACHE } = configuration
  return { settings: evaluationSettings(limits), toolCallFormat, reward, cacheType, tasks }
}

/** Scores one version. @throws EngineError, EpisodeError, the signal's reason */
async function scoreOf(
  { version, adapterSha256 }: Publication,
  { config, tasks, runtimeOf, recorder, blobs, open = openEngine }: HeldOutParts,
  signal: AbortSignal,
): Promise<Score> {
  const { limits, reward, cacheType } = recorder.state.configuration!
  const { threads, gpu } = config.heldOut
  const runtime = runtimeOf(reward)
  const fitting = tasks.filter((task) => hasCapacity(task, runtime, limits))
  const slots = Math.min(SLOTS, fitting.length)
  const adapter: AdapterFile = { path: blobs.path(adapterSha256), sha256: adapterSha256 }
  const contextSize = limits.maxRolloutTokens
  const engine = await open({
    ...{ modelPath: config.base.path, threads, contextSize, slots, ...(cacheType && { cacheType }) },
    gpu: gpu ? 'auto' : false,
  })
  try {
    const settings = { ...evaluationSettings(limits), slots }
    const results = await evaluatePolicy(fitting, adapter, [engine], runtime, settings, signal)
    const of = (value: 'reward' | 'solved' | 'calls'): readonly number[] => results.map((result) => result[value])
    const meanDue = fitting.reduce((sum, { groundTruth }) => sum + groundTruth.length, 0) / fitting.length
    return {
      ...{ version, adapterSha256, tasks: fitting.length, tooLong: tasks.length - fitting.length },
      ...{ reward: estimate(of('reward')), solved: estimate(of('solved')) },
      ...{ calls: estimate(of('calls')).mean, callsDue: meanDue },
    }
  } finally {
    await engine.close()
  }
}
