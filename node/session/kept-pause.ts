import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { z } from 'zod'
import { NodeError } from '../report/errors.js'

const FILE = 'pause.json'

/** A pause by the owner: its end on the system's clock, and its duration. Both null: until `resume`. */
const pause = z.strictObject({ untilMs: z.number().nullable(), forMs: z.number().nullable(), atOnce: z.boolean() })
export type Pause = z.output<typeof pause>

/** Reads the pause of a data folder; null: no pause. @throws NodeError `unreadable` */
export async function readPause(dataDir: string): Promise<Pause | null> {
  const path = join(dataDir, FILE)
  try {
    return pause.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    // A damaged file may mean that the machine must not be used now, so it is an error.
    if (!(cause instanceof SyntaxError || cause instanceof z.ZodError)) throw cause
    throw new NodeError('unreadable', `${path} is damaged: delete it to end the pause`, { cause })
  }
}

/** Writes the pause of a data folder. @param request  null: no pause */
export async function keepPause(dataDir: string, request: Pause | null): Promise<void> {
  const path = join(dataDir, FILE)
  if (request === null) await rm(path, { force: true })
  else await writeFileAtomic(path, JSON.stringify(request), { mode: 0o600 })
}
