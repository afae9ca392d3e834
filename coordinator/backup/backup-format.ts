import { createHash } from 'node:crypto'
import { z } from 'zod'
import { isBefore, PACKAGE_VERSION, packageVersion } from '../../common/cli/index.js'
import { BackupError } from './backup-error.js'

/**
 * A backup is a folder:
 *
 *     backup.json     summary; written last
 *     files.jsonl     one line for each other file: path, size, SHA-256
 *     events.jsonl    records of the log as it stores them, up to the time of the backup
 *     run.yaml        the configuration, if it was given
 *     data/           files of the data folder, under the same names
 */
export const BACKUP_FILE = 'backup.json'
export const LIST_FILE = 'files.jsonl'
export const EVENTS_FILE = 'events.jsonl'
export const CONFIG_FILE = 'run.yaml'
export const DATA_FOLDER = 'data'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().min(0)

/** Oldest version of this program that can restore backups of this version. */
export const BACKUP_NEEDS = '0.1.0'

const version = z.string().max(32).regex(PACKAGE_VERSION)
/** The part of the file that never changes its form. */
const origin = z.object({ program: version, needs: version })

const content = z.strictObject({
  schema: z.literal(1),
  /** Version of this program that made the backup, and the oldest that can restore it. */
  program: version,
  needs: version,
  createdAt: z.iso.datetime(),
  /** Peer id of the coordinator's key: the run's name. */
  run: z.string().min(1).max(256),
  /** End of the log in the backup. */
  events: z.strictObject({ count, hash: sha256 }),
  /** Number of listed files, their bytes, and the hash of the list. */
  files: z.strictObject({ count, bytes: count, sha256 }),
})

export type BackupContent = z.output<typeof content>

const stored = z.strictObject({ ...content.shape, check: sha256 })

const checkOf = (backup: BackupContent): string => createHash('sha256').update(JSON.stringify(backup)).digest('hex')

export const writeBackupFile = (backup: BackupContent): string =>
  `${JSON.stringify({ ...backup, check: checkOf(backup) }, null, 2)}\n`

/**
 * Parses `backup.json`.
 * @returns null if the text is invalid or was changed
 * @throws BackupError `newer_version` if only a later version of this program can restore the backup
 */
export function parseBackupFile(text: string): BackupContent | null {
  checkVersion(text)
  try {
    const { check, ...backup } = stored.parse(JSON.parse(text))
    return check === checkOf(backup) && text === writeBackupFile(backup) ? backup : null
  } catch {
    return null
  }
}

function checkVersion(text: string): void {
  const here = packageVersion()
  const made = originOf(text)
  if (made === null || !isBefore(here, made.needs)) return
  throw new BackupError(
    'newer_version',
    `the backup was made by prove-swarm ${made.program} and needs ${made.needs} or newer, but this is ${here}. The backup is not damaged: install the newer program.`,
  )
}

function originOf(text: string): z.output<typeof origin> | null {
  try {
    return origin.parse(JSON.parse(text))
  } catch {
    return null
  }
}

/** Paths that cannot lead out of the folder. */
const path = z.string().regex(/^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/)

const listed = z.strictObject({ path, size: count, sha256 })
export type ListedFile = z.output<typeof listed>

/** Parses a line of the list. @returns null if it is invalid */
export function parseListed(line: string): ListedFile | null {
  try {
    return listed.parse(JSON.parse(line))
  } catch {
    return null
  }
}
