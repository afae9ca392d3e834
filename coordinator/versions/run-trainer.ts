import writeFileAtomic from 'write-file-atomic'
import type { Stage, Task } from '../../rollout/episode/index.js'
import type { TrainEngine } from '../jobs/train-engine.js'
import type { RunTerms } from '../ledger/run-configuration.js'
import { canaryPrompts } from './canary.js'

/** The trainer of a run, whose settings are terms. */
export interface RunTrainer extends TrainEngine {
  /**
   * Lets the steps from here on be made by these terms: writes `trainer.json`, and starts the trainer anew if it goes by another one.
   * Not to be called while it has a batch.
   * @throws TrainerError, and the signal's reason
   */
  settle(terms: RunTerms, signal: AbortSignal): Promise<void>
}

export interface RunTrainerParts {
  /** Of `trainer.json`. */
  readonly file: string
  readonly tasks: readonly Task[]
  readonly stage: Stage
  /** A trainer that reads the file when it starts. */
  readonly launch: () => TrainEngine
}

export function createRunTrainer({ file, tasks, stage, launch }: RunTrainerParts): RunTrainer {
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
    async settle(terms, signal) {
      const wanted = trainerConfig(terms, tasks, stage)
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
function trainerConfig({ base, limits, training }: RunTerms, tasks: readonly Task[], stage: Stage): string {
  return JSON.stringify({
    schema: 1,
    baseSha256: base.ggufSha256,
    canaries: canaryPrompts(tasks, stage, limits),
    ...training,
    baseModel: { name: base.name, ...training.baseModel },
  })
}
