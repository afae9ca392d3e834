import writeFileAtomic from 'write-file-atomic'
import type { EpisodeRuntime, Task } from '../../rollout/episode/index.js'
import type { TrainEngine } from '../jobs/train-engine.js'
import type { RunConfiguration } from '../ledger/run-configuration.js'
import { canaryPrompts } from './canary.js'

/** The trainer of a run. Its settings are part of the run configuration. */
export interface RunTrainer extends TrainEngine {
  /**
   * Makes the run configuration apply to the following steps: writes `trainer.json`, and restarts the trainer if the file has changed.
   * Must not be called while the trainer has a batch.
   * @throws TrainerError, and the signal's reason
   */
  settle(configuration: RunConfiguration, signal: AbortSignal): Promise<void>
}

export interface RunTrainerParts {
  /** Path of `trainer.json`. */
  readonly file: string
  readonly tasks: readonly Task[]
  readonly runtime: EpisodeRuntime
  /** Starts a trainer that reads the file. */
  readonly launch: () => TrainEngine
}

export function createRunTrainer({ file, tasks, runtime, launch }: RunTrainerParts): RunTrainer {
  let engine = launch()
  let isStarted = false
  let settings: string | null = null
  return {
    start(signal) {
      isStarted = true
      return engine.start(signal)
    },
    outcome: (batchId, signal) => engine.outcome(batchId, signal),
    close: () => engine.close(),
    async settle(configuration, signal) {
      const wanted = trainerConfig(configuration, tasks, runtime)
      if (wanted === settings) return
      await writeFileAtomic(file, wanted)
      settings = wanted
      if (!isStarted) return
      await engine.close()
      signal.throwIfAborted()
      engine = launch()
      await engine.start(signal)
    },
  }
}

/** Returns the content of `trainer.json` (docs/reference/trainer.md). */
export function trainerConfig(
  {
    base,
    limits,
    training,
  }: Pick<RunConfiguration, 'limits' | 'training'> & {
    readonly base: Pick<RunConfiguration['base'], 'name' | 'ggufSha256'>
  },
  tasks: readonly Task[],
  runtime: EpisodeRuntime,
): string {
  return JSON.stringify({
    schema: 1,
    baseSha256: base.ggufSha256,
    canaries: canaryPrompts(tasks, runtime, limits),
    ...training,
    baseModel: { name: base.name, ...training.baseModel },
  })
}
