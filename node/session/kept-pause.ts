import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { z } from 'zod'
import { NodeError } from '../report/errors.js'

const FILE = 'pause.json'

/** The owner's wish that the node rests. `untilMs` null: until `resume`. */
const pause = z.strictObject({ untilMs: z.number().nullable(), atOnce: z.boolean() })
export type Pause = z.output<typeof pause>

/** The pause that a data folder keeps; null: there is none. @throws NodeError `unreadable` */
export async function readPause(dataDir: string): Promise<Pause | null> {
  const path = join(dataDir, FILE)
  try {
    return pause.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    // It may say that the machine is not to be used now, so it is not passed over.
    if (!(cause instanceof SyntaxError || cause instanceof z.ZodError)) throw cause
    throw new NodeError('unreadable', `${path} is damaged; delete it, and the node works again`, { cause })
  }
}

/** @param wish  null: the pause is over */
export async function keepPause(dataDir: string, wish: Pause | null): Promise<void> {
  const path = join(dataDir, FILE)
  if (wish === null) await rm(path, { force: true })
  else await writeFileAtomic(path, JSON.stringify(wish), { mode: 0o600 })
}
