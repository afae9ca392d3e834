import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { DatasetError } from './errors.js'
import type { Split } from './profile.js'

export const MANIFEST_FILE = 'manifest.json'
const MAX_MANIFEST_BYTES = 1 << 20
/** Version of the manifest's shape and of the folder's layout. */
export const MANIFEST_SCHEMA = 2

/** Returns a split's name for files and loaders, which allow no hyphen. */
export const splitFileName = (split: Split): string => split.replaceAll('-', '_')
/** Returns the path of a split's JSON lines. */
export const recordsPath = (split: Split): string => `data/${splitFileName(split)}.jsonl`
/** Returns the path of a split's Parquet file. */
export const parquetPath = (split: Split): string => `data/${splitFileName(split)}.parquet`

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().min(0)
const ofSplit = z.strictObject({
  examples: count,
  'multi-turn': count,
  clarification: count,
  abstention: count,
})

/** Description and origin of a data set. Its hashes cover every other file of the folder. */
const manifestShape = z.strictObject({
  schema: z.literal(MANIFEST_SCHEMA),
  title: z.string().min(1).max(200),
  seed: z.int().min(0).max(0xffffffff),
  profile: z.record(z.string(), z.unknown()),
  settings: z.record(z.string(), z.unknown()),
  /** Names of the environments whose tools may occur, in the order of the hash below. */
  environments: z.array(z.string().min(1).max(64)).max(256),
  /** Hash of all tools of these environments (`toolsetSchemaSha256`). */
  toolset_schema_sha256: sha256,
  counts: z.strictObject({ train: ofSplit, validation: ofSplit, 'held-out': ofSplit } satisfies Record<Split, unknown>),
  /** Number of candidates that each filter rejected. */
  drops: z.record(z.string(), count),
  files: z.array(z.strictObject({ path: z.string().min(1).max(200), size: count, sha256 })).max(64),
})

export type Manifest = z.output<typeof manifestShape>
export type FileEntry = Manifest['files'][number]

/** Returns the content of `manifest.json`. */
export const serializeManifest = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`

/** Reads the manifest of a data set. @throws DatasetError `missing_file`, `bad_manifest`, `other_schema` */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, MANIFEST_FILE)
  const text = await readBounded(path)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw badManifest(path, `not JSON (${(cause as Error).message.slice(0, 120)})`)
  }
  const { schema } = (value ?? {}) as { schema?: unknown }
  if (typeof schema === 'number' && schema !== MANIFEST_SCHEMA) {
    throw new DatasetError(
      'other_schema',
      `${path}: the data set has version ${schema} and this program reads ${MANIFEST_SCHEMA}: use the program that wrote it, or make the data set again`,
    )
  }
  const parsed = manifestShape.safeParse(value)
  if (!parsed.success) throw badManifest(path, z.prettifyError(parsed.error).replaceAll(/\s+/g, ' ').slice(0, 400))
  return parsed.data
}

async function readBounded(path: string): Promise<string> {
  try {
    const file = await open(path)
    try {
      const { size } = await file.stat()
      if (size > MAX_MANIFEST_BYTES) throw badManifest(path, `${size} bytes long`)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0)
      return buffer.toString('utf8', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (cause) {
    if (cause instanceof DatasetError) throw cause
    throw new DatasetError(
      'missing_file',
      `${path} cannot be read (${(cause as Error).message}). Name the folder of a complete data set: the manifest is written last.`,
      { cause },
    )
  }
}

/** Returns the error for a wrong manifest. */
export const badManifest = (path: string, problem: string): DatasetError =>
  new DatasetError('bad_manifest', `${path}: ${problem}. Fetch the data set again, or make it again.`)

/** Computes size and hash of a file. @throws DatasetError `missing_file` */
export async function describeFile(folder: string, path: string, signal?: AbortSignal): Promise<FileEntry> {
  const hash = createHash('sha256')
  let size = 0
  try {
    for await (const chunk of createReadStream(join(folder, path), signal ? { signal } : {})) {
      hash.update(chunk as Buffer)
      size += (chunk as Buffer).length
    }
  } catch (cause) {
    signal?.throwIfAborted()
    throw new DatasetError(
      'missing_file',
      `${join(folder, path)} cannot be read (${(cause as Error).message}). Fetch the data set again.`,
      { cause },
    )
  }
  return { path, size, sha256: hash.digest('hex') }
}

/** Compares a file with the manifest. @throws DatasetError `missing_file`, `wrong_hash`, `bad_manifest` if the manifest lacks the file */
export async function checkFile(folder: string, manifest: Manifest, path: string, signal?: AbortSignal): Promise<void> {
  const expected = manifest.files.find((entry) => entry.path === path)
  if (!expected) throw badManifest(join(folder, MANIFEST_FILE), `it does not name ${path}`)
  const found = await describeFile(folder, path, signal)
  if (found.size !== expected.size || found.sha256 !== expected.sha256) {
    throw new DatasetError(
      'wrong_hash',
      `${join(folder, path)}: ${found.size} bytes with SHA-256 ${found.sha256}; the manifest names ${expected.size} bytes with ${expected.sha256}. Fetch the file again.`,
    )
  }
}
