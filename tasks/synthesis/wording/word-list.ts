import { z } from 'zod'
import { packageFile, readDataFile } from '../../../servers/data-file.js'
import type { Persona } from './speech.js'

/** A list of texts in a word list. */
export const texts = z.array(z.string())

/** A value per register in a word list. */
export const byRegister = <T extends z.ZodType>(value: T) =>
  z.strictObject({ terse: value, plain: value, polite: value, chatty: value } satisfies Record<Persona['register'], T>)

/** Texts with their weights in a word list, as pairs. */
export const weighted = z.record(z.string(), z.int().min(1)).transform((weights) => Object.entries(weights))

/**
 * Returns a function that gives the word list `data/<name>.yaml`. The file is read on the first call, once per process.
 * @throws DataFileError, on the first call, with the lines that the schema rejects
 */
export function wordList<T>(name: string, schema: z.ZodType<T>): () => T {
  const file = `tasks/synthesis/wording/data/${name}.yaml`
  let known: T | undefined
  return () => {
    known ??= readDataFile(packageFile(file), file, schema).value
    return known
  }
}
