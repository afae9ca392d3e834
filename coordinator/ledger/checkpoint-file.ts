import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { z } from 'zod'
import { packageVersion } from '../../common/cli/index.js'
import { linesOf } from '../../common/control/index.js'
import type { LogHead } from './log-chain.js'
import { syncFolderOf } from './log-head.js'
import { CheckpointError, SECTION_NAMES, SECTIONS, type Section, type StateSnapshot } from './state-snapshot.js'

/** Snapshot of the run state at a place of the log. */
export interface Checkpoint {
  readonly at: LogHead
  readonly snapshot: StateSnapshot
}

/** Version of the file format and of its sections. Raised with every change of the reducer that keeps the version of the program. */
const SCHEMA = 6
const WRITTEN_AT_ONCE = 256 * 1024

const hash = z.string().regex(/^[0-9a-f]{64}$/)
const header = z.object({ schema: z.int(), program: z.string(), count: z.int().min(1), hash })
const row = z.tuple([z.enum(SECTION_NAMES), z.unknown()])
const footer = z.strictObject({ sha256: hash })

/**
 * Returns the lines of the file as JSON: a header with the place of the log, `[section, entry]` for every entry of the state, and the
 * SHA-256 of all previous lines. Events are contained as the log stores them.
 */
function* linesFor({ at, snapshot }: Checkpoint): Generator<string> {
  yield JSON.stringify({ schema: SCHEMA, program: packageVersion(), ...at })
  for (const section of SECTION_NAMES) for (const entry of snapshot[section]) yield JSON.stringify([section, entry])
}

/** Writes a checkpoint and replaces the file when it is on disk. Yields to other work between pieces. */
export async function writeCheckpoint(path: string, checkpoint: Checkpoint): Promise<void> {
  const draft = `${path}.tmp`
  const file = await open(draft, 'w', 0o600)
  try {
    const sha256 = createHash('sha256')
    let piece = ''
    for (const line of linesFor(checkpoint)) {
      piece += `${line}\n`
      if (piece.length < WRITTEN_AT_ONCE) continue
      sha256.update(piece)
      await file.appendFile(piece)
      piece = ''
    }
    sha256.update(piece)
    await file.appendFile(`${piece}${JSON.stringify({ sha256: sha256.digest('hex') })}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  await syncFolderOf(path)
}

/** Reads a checkpoint. @throws CheckpointError; the error of the file system, such as `ENOENT` */
export async function readCheckpoint(path: string): Promise<Checkpoint> {
  const snapshot = Object.fromEntries(SECTION_NAMES.map((name) => [name, []])) as unknown as Record<Section, unknown[]>
  const sha256 = createHash('sha256')
  let at: LogHead | null = null
  let end: string | null = null
  try {
    for await (const line of linesOf(createReadStream(path))) {
      if (end !== null) throw damaged('there are lines after its end')
      if (at === null) at = placeOf(line)
      else if (line.startsWith('{')) {
        end = parsed(footer, line).sha256
        continue
      } else addEntry(snapshot, line)
      sha256.update(`${line}\n`)
    }
  } catch (why) {
    throw why instanceof RangeError ? damaged(why.message) : why
  }
  if (at === null || end === null) throw damaged('it is truncated')
  if (end !== sha256.digest('hex')) throw damaged('its hash does not match')
  return { at, snapshot: snapshot as unknown as StateSnapshot }
}

function placeOf(line: string): LogHead {
  const { schema, program, count, hash } = parsed(header, line)
  const version = packageVersion()
  if (schema !== SCHEMA || program !== version)
    throw new CheckpointError(
      'other_version',
      `it was written by version ${program} (schema ${schema}), and this is ${version}`,
    )
  return { count, hash }
}

function addEntry(snapshot: Record<Section, unknown[]>, line: string): void {
  const [section, entry] = parsed(row, line)
  const { success, data } = SECTIONS[section].safeParse(entry)
  if (!success) throw damaged(`an entry of ${section} is invalid`)
  snapshot[section].push(data)
}

function parsed<T>(schema: z.ZodType<T>, line: string): T {
  try {
    return schema.parse(JSON.parse(line))
  } catch (cause) {
    throw new CheckpointError('damaged', `${JSON.stringify(line.slice(0, 60))} is not a valid line`, { cause })
  }
}

const damaged = (detail: string): CheckpointError => new CheckpointError('damaged', detail)
