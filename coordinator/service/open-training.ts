import type { CheckWatch } from '../../rollout/verification/index.js'
import { systemClock } from '../../swarm/index.js'
import { type Auditor, openRunAuditor } from '../intake/auditor.js'
import { meterTrainer } from '../jobs/metrics.js'
import { createTrainerProcess } from '../jobs/trainer-process.js'
import { createRunTrainer, type RunTrainer } from '../versions/run-trainer.js'
import type { AgreedRun } from './agree-run.js'
import type { OpenedLedger } from './open-ledger.js'
import type { CoordinatorOptions, StartScope } from './progress.js'

const MAX_TRAINER_FAILURES = 3

/** The two Python processes of a run. */
export interface OpenedTraining {
  /** Null: the run has no calibration, so groups are not audited. */
  readonly auditor: Auditor | null
  readonly trainer: RunTrainer
}

/** Opens the auditor and the trainer, and writes the trainer's settings, which both read. */
export async function openTraining(
  options: CoordinatorOptions,
  { folder, taskSet, recorder, metrics }: OpenedLedger,
  { runtime, blobs, base, calibrations, configuration }: AgreedRun,
  { cleanUp, signal, watch }: StartScope & { readonly watch: CheckWatch },
): Promise<OpenedTraining> {
  const { config, trainerFolder: packageFolder, logger, onProgress } = options
  const { jobs, trainerConfig } = folder
  const python = config.trainer.python ?? options.python
  const meter = meterTrainer(metrics)
  const audits = await openRunAuditor({
    ...{ python, packageFolder, trainerConfig, blobs, clock: systemClock, logger, watch, signal },
    base: config.base.path,
    processes: config.audit.processes,
    calibrations: calibrations.bySha256,
    adaptersKept: () => recorder.state.configuration!.maxStaleness + 1,
    service: { jobs, baseSha256: base.sha256, reader: runtime },
  })
  cleanUp.add(() => audits?.close())
  const launch = () =>
    createTrainerProcess(
      {
        ...{ python, packageFolder, jobs, base: config.base.path, config: trainerConfig },
        processes: config.trainer.processes,
        launch: config.trainer.launch,
        logFile: folder.trainerLog,
        maxFailures: MAX_TRAINER_FAILURES,
        onEvent: (event) => {
          meter(event)
          onProgress({ type: 'trainer', event })
        },
      },
      logger,
    )
  const trainer = createRunTrainer({ file: trainerConfig, tasks: taskSet.tasks, runtime, launch })
  await trainer.settle(configuration, signal)
  // The first groups of a run are all audited, and would wait for this start. A finished run has no more groups.
  if ((recorder.state.current?.version ?? 0) < configuration.versions) audits?.start()
  cleanUp.add(() => trainer.close())
  return { auditor: audits?.auditor ?? null, trainer }
}
