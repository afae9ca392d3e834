import { chmod, mkdir, readdir, stat } from 'node:fs/promises'
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
  /** What volunteers join with, as text. */
  readonly invitation: string
}

/** Everything that a coordinator puts into its data directory; whatever else lies there is not its own. */
const PARTS = [
  ...['log', 'log.head', 'identity.key', 'trainer.json', 'trainer.log', 'control.sock'],
  ...['blobs', 'bodies', 'evidence', 'calibrations', 'manifests', 'spool', 'control.path', 'invitation.txt'],
]

/** Only the owner may list or read: rounds have secrets, and who has the key is the run. */
export const PRIVATE_FOLDER = 0o700
export const PRIVATE_FILE = 0o600
/** For programs that write a data directory: what LevelDB and Python create follows the process's mask. */
export const PRIVATE_UMASK = 0o077
const OTHERS = 0o077

export const dataFolderOf = (dataDir: string): DataFolder => ({
  log: join(dataDir, 'log'),
  blobs: join(dataDir, 'blobs'),
  bodies: join(dataDir, 'bodies'),
  evidence: join(dataDir, 'evidence'),
  calibrations: join(dataDir, 'calibrations'),
  manifests: join(dataDir, 'manifests'),
  spool: join(dataDir, 'spool'),
  trainerConfig: join(dataDir, 'trainer.json'),
  trainerLog: join(dataDir, 'trainer.log'),
  invitation: join(dataDir, 'invitation.txt'),
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
  for (const path of [folder.manifests, join(folder.spool, 'batches')]) await mkdir(path, { recursive: true, mode })
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
