import { appendFile, readFile, writeFile } from 'node:fs/promises'
import writeFileAtomic from 'write-file-atomic'
import type { z } from 'zod'
import { CodedError } from '../common/errors/index.js'

/** A journal belongs to other work, or is damaged. */
export class JournalError extends CodedError<'other_work' | 'damaged'> {}

/** File of results, one JSON object per line, from which interrupted work resumes. */
export interface Journal<T> {
  /** Results that the file contained when it was opened, oldest first. */
  readonly earlier: readonly T[]
  /** Appends results. */
  add(results: readonly T[]): Promise<void>
  /** Writes these results in place of all others. */
  replace(results: readonly T[]): Promise<void>
}

/**
 * Opens a journal, or creates it if the file does not exist. Removes a last line that a crash truncated.
 * @param work  JSON description of the work, which is the first line
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
      `${file} belongs to another model, adapter, backend, task set, seed or limits: name another file or remove this one`,
    )
  const earlier = rest.map((one, i) => {
    const parsed = line.safeParse(parseJson(one))
    if (!parsed.success)
      throw new JournalError(
        'damaged',
        `${file}, line ${i + 2}: not a result of this command; name another file or remove this one`,
      )
    return parsed.data
  })
  await writeFile(file, [header, ...rest].map((one) => `${one}\n`).join(''))
  const textOf = (results: readonly T[]): string => results.map((one) => `${JSON.stringify(one)}\n`).join('')
  return {
    earlier,
    add: (results) => appendFile(file, textOf(results)),
    replace: (results) => writeFileAtomic(file, `${header}\n${textOf(results)}`),
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
