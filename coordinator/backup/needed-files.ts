import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LIMITS, openManifest } from '../../proto/index.js'
import { readStep } from '../jobs/step-folder.js'
import type { RunState } from '../ledger/run-state.js'
import { manifestFile } from '../settings/data-folder.js'
import { BackupError } from './backup-error.js'

/** Folders and files of a data folder, as paths with slashes on every system. */
export const BODIES = 'bodies'
export const BLOBS = 'blobs'
export const CALIBRATIONS = 'calibrations'
export const EVIDENCE = 'evidence'
export const MANIFESTS = 'manifests'
export const VERSIONS = 'versions'
export const STEPS = 'jobs/steps'
export const batchFolder = (batchId: string): string => `jobs/batches/${batchId}`
export const stepFolder = (step: number): string => `${STEPS}/step-${step}`

/** Returns the newest manifest. A coordinator can continue without older ones. */
const newestManifest = ({ rounds }: RunState): string[] =>
  rounds.slice(-1).map(({ round }) => manifestFile(MANIFESTS, round).replaceAll('\\', '/'))

/** Returns the bodies of accepted groups that the pending batch or a later one may use. */
function untrainedBodies(state: RunState): string[] {
  const inTraining = (state.pendingBatch?.leaseIds ?? []).map((leaseId) => state.judged.get(leaseId)!)
  return [...inTraining, ...state.trainable(LIMITS.staleness.value), ...state.suspects.values(), ...state.heldBack]
    .filter(({ zeroVariance, leaseId }) => !zeroVariance && !state.lostBodies.has(leaseId))
    .map(({ bodySha256 }) => `${BODIES}/${bodySha256}`)
}

/**
 * Returns the files, by their paths in the data folder, without which a run cannot continue from a state.
 * @param root  folder of the files; manifests and the published step are read to see which files they name
 * @throws BackupError `not_whole` when a manifest or a step cannot be read
 */
export async function neededFiles(state: RunState, root: string, runId: string): Promise<string[]> {
  const manifests = newestManifest(state)
  const calibrations = state.configurationHistory
    .flatMap(({ configuration }) => Object.values(configuration.audit.calibrations))
    .map((sha256) => `${CALIBRATIONS}/${sha256}.json`)
  const needed = new Set(['identity.key', ...manifests, ...calibrations, ...untrainedBodies(state)])
  for (const path of manifests) {
    const { manifest } = await readFile(join(root, path))
      .then((bytes) => openManifest(bytes, runId))
      .catch((cause: unknown) => {
        throw notWhole(path, cause)
      })
    for (const { sha256 } of manifest.blobs) needed.add(`${BLOBS}/${sha256}`)
  }
  if (state.current) {
    const { rollback } = state.orders
    const steps = [state.current.step, ...(rollback ? [state.publication(rollback.version).step] : [])]
    for (const step of steps) {
      const folder = stepFolder(step)
      const { files } = await readStep(join(root, 'jobs'), step).catch((cause: unknown) => {
        throw notWhole(`${folder}/step.json`, cause)
      })
      for (const name of ['step.json', ...Object.keys(files)]) needed.add(`${folder}/${name}`)
    }
  }
  return [...needed]
}

export const notWhole = (path: string, cause: unknown): BackupError =>
  new BackupError('not_whole', `${path}, which the run needs: ${(cause as Error).message}`, { cause })
