import { appendFile, readFile, writeFile } from 'node:fs/promises'
import type { z } from 'zod'
import { CodedError } from '../common/errors/index.js'

/** A journal is of other work than is asked for, or is not one. */
export class JournalError extends CodedError<'other_work' | 'damaged'> {}

/** Results as they come, one JSON object per line: what interrupted work goes on from. */
export interface Journal<T> {
  /** What it held when it was opened, oldest first. */
  readonly earlier: readonly T[]
  add(results: readonly T[]): Promise<void>
}

/**
 * Opens a journal, and begins one where there is none. A last line that a crash cut off is taken away.
 * @param work  what the results are of, as JSON: the first line
 * @throws JournalError
 */
export async function openJournal<T>(file: string, work: unknown, line: z.ZodType<T>): Promise<Journal<T>> {
  const header = JSON.stringify(work)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return ''
  })
  const [first = header, ...rest] = text.split('\n').slice(0, -1)
  if (first !== header)
    throw new JournalError(
      'other_work',
      `${file} is of another model, adapter, backend, task set, seed or limits: name another file, or remove it`,
    )
  const earlier = rest.map((one, i) => {
    const parsed = line.safeParse(parseJson(one))
    if (!parsed.success) throw new JournalError('damaged', `${file}, line ${i + 2}: this is no result`)
    return parsed.data
  })
  await writeFile(file, [header, ...rest].map((one) => `${one}\n`).join(''))
  return {
    earlier,
    add: (results) => appendFile(file, results.map((one) => `${JSON.stringify(one)}\n`).join('')),
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
