import { chmod, mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PRIVATE_FOLDER } from '../../common/control/index.js'

/** Paths in a coordinator's data folder. */
export interface DataFolder {
  readonly log: string
  /** Snapshot of the run state, see `ledger/checkpoints.ts`. */
  readonly checkpoint: string
  /** Published files, by hash. */
  readonly blobs: string
  /** Bodies of groups, by hash. */
  readonly bodies: string
  /** Signed proofs of false claims, see `intake/proofs.ts`. */
  readonly evidence: string
  /** Copies of the calibrations that the run configurations name, by hash. */
  readonly calibrations: string
  /** Sealed manifests of the run's rounds. */
  readonly manifests: string
  /** The first sealed manifest of each version. */
  readonly versions: string
  /** Job directory, shared with the trainer and the audit process. */
  readonly jobs: string
  /** Demonstrations, settings and checkpoint of a warm start. */
  readonly warmStart: string
  readonly trainerConfig: string
  readonly trainerLog: string
  /** Newest invitation, as text. */
  readonly invitation: string
  /** The address notice that was published last, sealed. */
  readonly addressNotice: string
  /** Nodes that were reached, to be dialled at the next start. */
  readonly knownPeers: string
}

/** Names of everything that a coordinator writes into its data folder. Other files there are not its own. */
const PARTS = [
  ...['log', 'log.head', 'log.checkpoint', 'identity.key', 'trainer.json', 'trainer.log', 'control.sock'],
  ...['blobs', 'bodies', 'evidence', 'calibrations', 'manifests', 'versions', 'jobs', 'warm-start'],
  ...['control.path', 'address.notice', 'peers.json', 'invitation.txt', 'backups'],
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
  versions: join(dataDir, 'versions'),
  jobs: join(dataDir, 'jobs'),
  warmStart: join(dataDir, 'warm-start'),
  trainerConfig: join(dataDir, 'trainer.json'),
  trainerLog: join(dataDir, 'trainer.log'),
  invitation: join(dataDir, 'invitation.txt'),
  addressNotice: join(dataDir, 'address.notice'),
  knownPeers: join(dataDir, 'peers.json'),
})

/** The sealed manifest of a round. */
export const manifestFile = (manifests: string, round: number): string =>
  join(manifests, `${String(round).padStart(6, '0')}.manifest`)

const VERSION_FILE = /^(\d{9})\.manifest$/

/** The first manifest of a version. */
export const versionFile = (versions: string, version: number): string =>
  join(versions, `${String(version).padStart(9, '0')}.manifest`)

/** Returns the version whose first manifest a file is, by its name; null: none. */
export const versionIn = (name: string): number | null => {
  const digits = VERSION_FILE.exec(name)?.[1]
  return digits === undefined ? null : Number(digits)
}

/** Creates missing folders, and removes access rights of other users. */
export async function openDataFolder(dataDir: string): Promise<DataFolder> {
  const folder = dataFolderOf(dataDir)
  const mode = PRIVATE_FOLDER
  await mkdir(dataDir, { recursive: true, mode })
  if (await isOpenToOthers(dataDir)) {
    for (const part of await readdir(dataDir)) if (PARTS.includes(part)) await close(join(dataDir, part))
    // Last, so that the next start repeats an interrupted one.
    await chmod(dataDir, mode)
  }
  for (const path of [folder.manifests, join(folder.jobs, 'batches')]) await mkdir(path, { recursive: true, mode })
  return folder
}

/** Whether users other than the owner have access rights. */
async function isOpenToOthers(path: string): Promise<boolean> {
  // Windows has no such modes: a user's folders are private by inheritance there.
  return process.platform !== 'win32' && ((await stat(path)).mode & OTHERS) !== 0
}

async function close(path: string): Promise<void> {
  const found = await stat(path)
  if (found.isDirectory()) for (const name of await readdir(path)) await close(join(path, name))
  if ((found.mode & OTHERS) !== 0) await chmod(path, found.mode & PRIVATE_FOLDER)
}
