import { availableParallelism } from 'node:os'
import { CodedError } from '../../common/errors/index.js'
import { type AdapterFile, type EngineOptions, type EngineProcess, openEngine } from '../../rollout/engine/index.js'
import type { EpisodeRuntime } from '../../rollout/episode/index.js'
import type { Clock } from '../../swarm/index.js'
import type { Recorder } from '../ledger/recorder.js'
import { episodeLimits, type RunConfig } from '../settings/config.js'
import type { TaskSet } from '../settings/task-set.js'
import { REHEARSAL, rehearse } from './rehearse.js'

/** More threads gain little. At most half of the cores, because waiting threads of llama.cpp spin. */
const MOST_THREADS = 8

/** Progress of a dry run. */
export type DryRunProgress =
  | { readonly type: 'dry-run'; readonly groups: number; readonly groupSize: number; readonly mostMs: number }
  /** The dry run failed; the run continues without it. */
  | { readonly type: 'no-dry-run'; readonly why: string }

interface DryRunParts {
  readonly config: RunConfig
  readonly taskSet: TaskSet
  readonly runtime: EpisodeRuntime
  /** Adapter of version 0; null: the base model alone. */
  readonly adapter: AdapterFile | null
  readonly recorder: Pick<Recorder, 'record'>
  readonly clock: Pick<Clock, 'now'>
  readonly onProgress: (progress: DryRunProgress) => void
  readonly open?: (options: EngineOptions) => Promise<Pick<EngineProcess, 'openSlots' | 'usePolicy' | 'close'>>
}

/**
 * Plays some tasks of a run with its version 0, before volunteers work for it, and records the result. Alarms use the record
 * (`report/alarms.ts`). Closes the engine afterwards, because training needs its memory.
 */
export async function dryRun(parts: DryRunParts, signal: AbortSignal): Promise<void> {
  const { config, taskSet, runtime, adapter, recorder, clock, onProgress, open = openEngine } = parts
  const { tasks } = taskSet
  const limits = episodeLimits(config)
  const groupSize = Math.min(REHEARSAL.groupSize, config.groupSize)
  const { milliseconds: mostMs } = REHEARSAL
  onProgress({ type: 'dry-run', groups: Math.min(REHEARSAL.groups, tasks.length), groupSize, mostMs })
  try {
    const engine = await open({
      modelPath: config.base.path,
      threads: Math.max(1, Math.min(MOST_THREADS, Math.floor(availableParallelism() / 2))),
      contextSize: limits.maxRolloutTokens,
      slots: groupSize,
      gpu: 'auto',
      cacheType: config.cacheType,
    })
    try {
      await engine.usePolicy(adapter, signal)
      const timeUp = AbortSignal.timeout(mostMs)
      const found = await rehearse({ tasks, engine, runtime, limits, groupSize }, timeUp, signal)
      await recorder.record(() => ({ type: 'rehearsed', atMs: clock.now(), ...found }))
    } finally {
      await engine.close()
    }
  } catch (error) {
    if (signal.aborted || !(error instanceof CodedError)) throw error
    onProgress({ type: 'no-dry-run', why: error.message })
  }
}
