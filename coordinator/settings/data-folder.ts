import { chmod, mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PRIVATE_FOLDER } from '../../common/control/index.js'

/** What lies where in a coordinator's data directory, beside its key. */
export interface DataFolder {
  readonly log: string
  /** What the log comes to up to some place of it, see `ledger/checkpoints.ts`. */
  readonly checkpoint: string
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
  readonly jobs: string
  readonly trainerConfig: string
  readonly trainerLog: string
  /** What volunteers join with, as text. */
  readonly invitation: string
  /** The notice of the coordinator's addresses that was published last, sealed. */
  readonly addressNotice: string
  /** Nodes that were reached, to be looked for at the next start. */
  readonly knownPeers: string
}

/** Everything that a coordinator puts into its data directory; whatever else lies there is not its own. */
const PARTS = [
  ...['log', 'log.head', 'log.checkpoint', 'identity.key', 'trainer.json', 'trainer.log', 'control.sock'],
  ...['blobs', 'bodies', 'evidence', 'calibrations', 'manifests', 'jobs', 'control.path'],
  ...['address.notice', 'peers.json', 'invitation.txt'],
]

const OTHERS = 0o077

export const dataFolderOf = (dataDir: string): DataFolder => ({
  log: join(dataDir, 'log'),
  checkpoint: join(dataDir, 'log.checkpoint'),
  blobs: join(dataDir, 'blobs'),
  bodies: join(dataDir, 'bodies'),
  evidence: join(dataDir, 'evidence'),
  calibrations: join(dataDir, 'calibrations'),
  manifests: join(dataDir, 'manifests'),
  jobs: join(dataDir, 'jobs'),
  trainerConfig: join(dataDir, 'trainer.json'),
  trainerLog: join(dataDir, 'trainer.log'),
  invitation: join(dataDir, 'invitation.txt'),
  addressNotice: join(dataDir, 'address.notice'),
  knownPeers: join(dataDir, 'peers.json'),
})

/** The sealed manifest of a round. */
export const manifestFile = (manifests: string, round: number): string =>
  join(manifests, `${String(round).padStart(6, '0')}.manifest`)

/** Makes what is missing, and takes the rights of others from what they could read. */
export async function openDataFolder(dataDir: string): Promise<DataFolder> {
  const folder = dataFolderOf(dataDir)
  const mode = PRIVATE_FOLDER
  await mkdir(dataDir, { recursive: true, mode })
  if (await isOpenToOthers(dataDir)) {
    for (const part of await readdir(dataDir)) if (PARTS.includes(part)) await close(join(dataDir, part))
    // Last, so that a start that is cut short here is made up for by the next one.
    await chmod(dataDir, mode)
  }
  for (const path of [folder.manifests, join(folder.jobs, 'batches')]) await mkdir(path, { recursive: true, mode })
  return folder
}

/** Whether anybody but the owner has rights on it. */
async function isOpenToOthers(path: string): Promise<boolean> {
  // Windows has no such modes: a user's folders are private there by inheritance.
  return process.platform !== 'win32' && ((await stat(path)).mode & OTHERS) !== 0
}

async function close(path: string): Promise<void> {
  const found = await stat(path)
  if (found.isDirectory()) for (const name of await readdir(path)) await close(join(path, name))
  if ((found.mode & OTHERS) !== 0) await chmod(path, found.mode & PRIVATE_FOLDER)
}
