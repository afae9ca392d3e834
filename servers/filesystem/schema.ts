import { z } from 'zod'
import {
  type DbView,
  type ObstacleOf,
  type RowOf,
  type SampleContext,
  type ToolContext,
  toolMaker,
} from '../kernel/define-environment.js'
import { ref } from '../kernel/fields.js'

/** The file system's limits: name, value, unit. */
export const LIMITS = {
  /** A name. Characters. */
  name: 32,
  /** An absolute path; keys of entities may have 80. Characters. */
  path: 72,
  /** Directories between the root and an entry, itself included. */
  depth: 8,
  /** Links that one path may lead through. */
  hops: 8,
  /** A text file. Bytes. */
  textBytes: 4000,
  /** Files in one archive. */
  members: 40,
} as const

export const NODE_KINDS = ['directory', 'text', 'photo', 'archive', 'link'] as const

const minute = z.string().regex(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}$/)
const photo = z.object({ taken: z.iso.date(), city: z.string(), camera: z.string() })

/** A file inside an archive; `path` begins with the name of the directory that was packed. */
const member = z.object({
  path: z.string(),
  kind: z.enum(['text', 'photo']),
  mode: z.int().min(0).max(0o777),
  bytes: z.int().nonnegative(),
  text: z.string(),
  photo: photo.nullable(),
})

const node = z.object({
  /** Absolute, without links, `.` or `..`. */
  path: z.string(),
  name: z.string(),
  /** Path of the directory it lies in; empty for the root. */
  parent: z.string(),
  kind: z.enum(NODE_KINDS),
  owner: z.string(),
  group: z.string(),
  /** Nine permission bits: read, write, execute for owner, group and others. */
  mode: z.int().min(0).max(0o777),
  /** In a sticky directory only the owner of an entry (or of the directory) may remove, rename or replace it. */
  sticky: z.boolean(),
  /** Directories and links take no bytes. */
  bytes: z.int().nonnegative(),
  modified: minute,
  /** Content of a text file; every line ends with a line feed. */
  text: z.string(),
  /** Where a link points; null for everything else. */
  target: z.string().nullable(),
  photo: photo.nullable(),
  members: z.array(member),
})

/** What lay at or beneath a trashed path; `path` is relative to the directory that it was taken from. */
const trashedNode = node.omit({ parent: true })

const trashItem = z.object({
  trash_item: z.string(),
  name: z.string(),
  /** The directory that it was taken from. */
  origin: z.string(),
  trashed: minute,
  bytes: z.int().nonnegative(),
  /** The trashed entry itself first, every directory before what lies in it. */
  content: z.array(trashedNode).min(1),
})

const user = z.object({
  user: z.string(),
  home: z.string(),
  /** The first is the user's own group for new files. */
  groups: z.array(z.string()).min(1),
  quota_bytes: z.int().positive(),
  quota_entries: z.int().positive(),
  /** What the user owns, in the trash or out of it. */
  used_bytes: z.int().nonnegative(),
  used_entries: z.int().nonnegative(),
})

export const tables = {
  nodes: { row: node, key: 'path' },
  trash: { row: trashItem, key: 'trash_item', missing: 'unknown_trash_item' },
  users: { row: user, key: 'user' },
  /** One row, `current`: who works here, and in which directory. */
  session: {
    row: z.object({ session: z.literal('current'), user: z.string(), directory: z.string() }),
    key: 'session',
  },
} as const

export const failures = {
  not_found: 'There is no such file or directory.',
  not_a_directory: 'That is not a directory.',
  is_a_directory: 'That is a directory, not a file.',
  permission_denied: 'The permissions do not allow that.',
  not_owner: 'Only the owner may do that.',
  sticky_directory: 'In a sticky directory only the owner of an entry may remove, rename or replace it.',
  already_exists: 'There is already something of that name.',
  directory_not_empty: 'The directory is not empty.',
  directory_in_use: 'The working directory lies in it: change the directory first.',
  into_itself: 'A directory cannot be put into itself or what lies in it.',
  same_file: 'Both are the same file.',
  name_invalid: 'A name has letters, digits, points, hyphens, underscores and inner spaces, and is not . or ..',
  path_too_long: `A name may have ${LIMITS.name} characters and a whole path ${LIMITS.path}.`,
  too_deep: `Nothing may lie deeper than ${LIMITS.depth} levels.`,
  too_many_links: `A path may lead through at most ${LIMITS.hops} links.`,
  broken_link: 'The link points to something that does not exist.',
  not_a_link: 'That is not a symbolic link.',
  not_text: 'That is not a text file.',
  not_an_archive: 'That is not an archive.',
  nothing_to_pack: 'There is no file in it that could be packed.',
  archive_too_large: `An archive holds at most ${LIMITS.members} files.`,
  file_locked: 'A lock file beside it says that the file is in use.',
  file_too_large: `A text file may have at most ${LIMITS.textBytes} bytes.`,
  quota_exceeded: 'That would take more bytes than the quota allows.',
  too_many_entries: 'That would make more files and directories than the quota allows.',
  text_not_found: 'The text does not occur in the file.',
  unknown_trash_item: 'There is no such item in the trash.',
  origin_gone: 'The directory that it was taken from is gone.',
  trash_is_empty: 'There is nothing in the trash.',
} as const

export type FilesystemTables = typeof tables
export type FailureCode = keyof typeof failures
export type Obstacle = ObstacleOf<typeof failures>
export type FilesystemView = DbView<FilesystemTables>
export type Context = ToolContext<FilesystemTables, FailureCode>
export type Sampling = Pick<SampleContext<FilesystemTables>, 'db' | 'random' | 'now'>
export type Node = RowOf<FilesystemTables['nodes']>
export type TrashItem = RowOf<FilesystemTables['trash']>
export type Member = Readonly<z.output<typeof member>>
export type User = RowOf<FilesystemTables['users']>

export const tool = toolMaker(tables, failures)

export const fileKey = (description = 'Path of a file'): z.ZodString => ref('file', description)
const DIRECTORY_PATH = 'Path of a directory'
export const directoryKey = (description = DIRECTORY_PATH): z.ZodString => ref('directory', description)
/** Returns a field like `directoryKey`, but without the reference: callers do not use the result to find a directory. */
export const directoryPath = (): z.ZodString => z.string().min(1).max(80).describe(DIRECTORY_PATH)
export const nameField = z.string().min(1).max(60)
export const lineField = z.string().min(1).max(200)
export const modeField = z
  .string()
  .regex(/^[0-7]{3}$/)
  .describe('Three octal digits: owner, group, others, such as 640.')
