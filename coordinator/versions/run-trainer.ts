import writeFileAtomic from 'write-file-atomic'
import type { EpisodeRuntime, Task } from '../../rollout/episode/index.js'
import type { TrainEngine } from '../jobs/train-engine.js'
import type { RunConfiguration } from '../ledger/run-configuration.js'
import { canaryPrompts } from './canary.js'

/** The trainer of a run, whose settings are terms. */
export interface RunTrainer extends TrainEngine {
  /**
   * Lets the steps from here on be made by these terms: writes `trainer.json`, and starts the trainer anew if it goes by another one.
   * Not to be called while it has a batch.
   * @throws TrainerError, and the signal's reason
   */
  settle(configuration: RunConfiguration, signal: AbortSignal): Promise<void>
}

export interface RunTrainerParts {
  /** Of `trainer.json`. */
  readonly file: string
  readonly tasks: readonly Task[]
  readonly runtime: EpisodeRuntime
  /** A trainer that reads the file when it starts. */
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

/** `trainer.json` (docs/trainer.md). */
function trainerConfig(
  { base, limits, training }: RunConfiguration,
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
