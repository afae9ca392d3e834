import { createReadStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { ParaphraserError } from './errors.js'
import { PROMPT_VERSION } from './limits.js'

const lineShape = z.object({
  task: z.string().regex(/^[0-9a-f]{64}$/),
  paraphraser: z.string().max(400),
  prompt: z.int(),
  attempts: z.int().min(1).max(10_000),
  /** `null`: no reply was usable, and the embedded wording was kept. */
  turns: z
    .array(z.object({ user: z.string().max(8000), assistant: z.string().max(8000) }))
    .max(64)
    .nullable(),
})

type Line = z.output<typeof lineShape>

/** Finished rephrasing of an example. */
export type Finished = Pick<Line, 'attempts' | 'turns'>

/** Finished rephrasings in a folder by task id, for one paraphraser and this version of the prompt. */
export interface Cache {
  get(taskId: string): Finished | undefined
  /** @throws ParaphraserError `cache_failed` */
  put(taskId: string, finished: Finished): Promise<void>
  /** Number of unreadable lines: one after a kill during a write, more if the file was damaged. */
  readonly damaged: number
  close(): Promise<void>
}

const FILE = 'rephrased.jsonl'
/** Longest line of the file, in characters. */
const LINE_CHARS = 256 << 10

/**
 * Opens the append-only file `rephrased.jsonl` of a folder. Skips a truncated line. Only one process may write the file at a time.
 * @throws ParaphraserError `cache_failed`
 */
export async function openCache(folder: string, paraphraser: string): Promise<Cache> {
  const path = join(folder, FILE)
  const failed = (cause: unknown): ParaphraserError =>
    new ParaphraserError('cache_failed', `${path}: ${(cause as Error).message}`, { cause })
  const known = new Map<string, Finished>()
  try {
    await mkdir(folder, { recursive: true })
    const file = await open(path, 'a')
    const { damaged, torn } = await readLines(path, (line) => {
      if (line.paraphraser === paraphraser && line.prompt === PROMPT_VERSION)
        known.set(line.task, { attempts: line.attempts, turns: line.turns })
    })
    // Ends a truncated line, so that new lines start separately.
    if (torn) await file.appendFile('\n')
    let writing: Promise<void> = Promise.resolve()
    let closing: Promise<void> | undefined
    return {
      damaged,
      get: (taskId) => known.get(taskId),
      put(taskId, { attempts, turns }) {
        const line: Line = { task: taskId, paraphraser, prompt: PROMPT_VERSION, attempts, turns }
        known.set(taskId, { attempts, turns })
        const written = writing.then(async () => {
          await file.appendFile(`${JSON.stringify(line)}\n`)
          await file.datasync()
        })
        writing = written.catch(() => {})
        return written.catch((cause: unknown) => {
          throw failed(cause)
        })
      },
      close() {
        closing ??= writing.then(() => file.close())
        return closing
      },
    }
  } catch (cause) {
    throw failed(cause)
  }
}

/** Stands for the beginning of a line that is too long: no line that begins with it can be read. */
const TOO_LONG = '!'

/** Reads line by line with at most the limit of one line in memory. */
async function readLines(path: string, take: (line: Line) => void): Promise<{ damaged: number; torn: boolean }> {
  let damaged = 0
  let rest = ''
  const use = (text: string): void => {
    const line = parseLine(text)
    if (line) take(line)
    else if (text !== '') damaged++
  }
  for await (const chunk of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) use(part)
    if (rest.length > LINE_CHARS) rest = TOO_LONG
  }
  use(rest)
  return { damaged, torn: rest !== '' }
}

function parseLine(text: string): Line | undefined {
  try {
    const parsed = lineShape.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}
