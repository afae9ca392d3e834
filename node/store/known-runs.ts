import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { z } from 'zod'
import { PRIVATE_FOLDER } from '../../common/control/index.js'
import { NodeError } from '../report/errors.js'

const FILE = 'runs.json'
/** More runs than anybody joins. An invitation has at most some kilobytes. */
const MOST = 32
const MAX_CHARS = 1024 * 1024

const knownRun = z.strictObject({
  /** Key of the run. */
  run: z.string().min(1).max(128),
  /** The invitation or the address that named the run. */
  named: z.string().min(1).max(32_768),
  /** The operator's description of the run in the invitation; empty: none. */
  about: z.string().max(4096),
  usedAtMs: z.number(),
})
const content = z.strictObject({ schema: z.literal(1), runs: z.array(knownRun).max(MOST) })

/** A run that a command of this user has reached. */
export type KnownRun = z.output<typeof knownRun>

/** Returns the runs that were reached with a data folder, the last used one first. @throws NodeError `unreadable` */
export async function readKnownRuns(dataDir: string): Promise<KnownRun[]> {
  const path = join(dataDir, FILE)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw cause
  }
  try {
    if (text.length > MAX_CHARS) throw new Error(`it has more than ${MAX_CHARS} characters`)
    return content.parse(JSON.parse(text)).runs
  } catch (cause) {
    throw new NodeError('unreadable', `${path}: ${(cause as Error).message}: remove the file, and name the run again`, {
      cause,
    })
  }
}

/** Records that a run was reached, in place of its earlier record. @throws the system's error */
export async function rememberRun(dataDir: string, run: KnownRun): Promise<void> {
  const others = (await readKnownRuns(dataDir)).filter((one) => one.run !== run.run)
  await mkdir(dataDir, { recursive: true, mode: PRIVATE_FOLDER })
  const runs = [run, ...others].slice(0, MOST)
  await writeFileAtomic(join(dataDir, FILE), `${JSON.stringify({ schema: 1, runs }, null, 2)}\n`, { mode: 0o600 })
}
