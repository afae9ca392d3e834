import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { TrainerError } from './errors.js'
import { unlessMissing } from './job-directory.js'
import { FILES } from './layout.js'

/** Reason for which Python refused a job for good. */
export interface Refusal {
  readonly code: string
  readonly detail: string
}

/** Content of the file, which is logged as it is. */
const refusalFile = z
  .looseObject({
    code: z.string().max(64),
    message: z.string().transform((text) => text.slice(0, 1000)),
  })
  .transform(({ code, message }): Refusal => ({ code, detail: message }))

/**
 * Reads why Python will never work on a folder of the job directory; null: not refused.
 * @throws TrainerError when the file cannot be read
 */
export async function readRefusal(folder: string): Promise<Refusal | null> {
  const file = join(folder, FILES.refused)
  try {
    const text = await unlessMissing(readFile(file, 'utf8'))
    return text === null ? null : refusalFile.parse(JSON.parse(text))
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message
    throw new TrainerError('trainer_failed', `${file}: ${reason.slice(0, 400)}`, { cause })
  }
}
