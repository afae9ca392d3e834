import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

/** What lies where in a coordinator's data directory, beside its key. */
export interface DataFolder {
  readonly log: string
  /** Files that are published, by hash. */
  readonly blobs: string
  /** Bodies of groups, by hash. */
  readonly bodies: string
  /** What nodes have signed that proves them liars, see `intake/proofs.ts`. */
  readonly evidence: string
  /** Copies of the calibrations that the run's terms name, by hash. */
  readonly calibrations: string
  /** Sealed manifests of the run's rounds. */
  readonly manifests: string
  /** Shared with the trainer and the audit process. */
  readonly spool: string
  readonly trainerConfig: string
  readonly trainerLog: string
}

export async function openDataFolder(dataDir: string): Promise<DataFolder> {
  const [manifests, spool] = [join(dataDir, 'manifests'), join(dataDir, 'spool')]
  for (const path of [manifests, join(spool, 'batches')]) await mkdir(path, { recursive: true })
  return {
    log: join(dataDir, 'log'),
    blobs: join(dataDir, 'blobs'),
    bodies: join(dataDir, 'bodies'),
    evidence: join(dataDir, 'evidence'),
    calibrations: join(dataDir, 'calibrations'),
    manifests,
    spool,
    trainerConfig: join(dataDir, 'trainer.json'),
    trainerLog: join(dataDir, 'trainer.log'),
  }
}
