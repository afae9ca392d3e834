import { createHash } from 'node:crypto'
import { z } from 'zod'

/**
 * A backup is a folder:
 *
 *     backup.json     this; written last
 *     files.jsonl     one line for each of the other files: path, size, SHA-256
 *     events.jsonl    the log's records as it stores them, up to the place where the backup was cut
 *     run.yaml        the configuration, if it was given
 *     data/           files of the data folder, under the names that they have there
 */
export const BACKUP_FILE = 'backup.json'
export const LIST_FILE = 'files.jsonl'
export const EVENTS_FILE = 'events.jsonl'
export const CONFIG_FILE = 'run.yaml'
export const DATA_FOLDER = 'data'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().min(0)

const content = z.strictObject({
  schema: z.literal(1),
  createdAt: z.iso.datetime(),
  /** Peer id of the coordinator's key: the run's name. */
  run: z.string().min(1).max(256),
  /** The end of the log at the cut. */
  events: z.strictObject({ count, hash: sha256 }),
  /** How many files the list names, their bytes, and the hash of the list. */
  files: z.strictObject({ count, bytes: count, sha256 }),
})

export type BackupContent = z.output<typeof content>

const stored = z.strictObject({ ...content.shape, check: sha256 })

const checkOf = (backup: BackupContent): string => createHash('sha256').update(JSON.stringify(backup)).digest('hex')

export const writeBackupFile = (backup: BackupContent): string =>
  `${JSON.stringify({ ...backup, check: checkOf(backup) }, null, 2)}\n`

/** @returns null for what is no such file, or was changed */
export function parseBackupFile(text: string): BackupContent | null {
  try {
    const { check, ...backup } = stored.parse(JSON.parse(text))
    return check === checkOf(backup) && text === writeBackupFile(backup) ? backup : null
  } catch {
    return null
  }
}

/** Names that cannot lead out of the folder. */
const path = z.string().regex(/^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/)

const listed = z.strictObject({ path, size: count, sha256 })
export type ListedFile = z.output<typeof listed>

/** @returns null for a line that lists nothing */
export function parseListed(line: string): ListedFile | null {
  try {
    return listed.parse(JSON.parse(line))
  } catch {
    return null
  }
}
