import { z } from 'zod'
import { packageFile, readDataFile } from '../../../servers/data-file.js'
import type { SeededRandom } from '../../../servers/kernel/index.js'
import type { Register } from './speech.js'

/** A list of texts in a data file. */
export const texts = z.array(z.string())

/** A value per register in a data file. */
export const byRegister = <T extends z.ZodType>(value: T) =>
  z.strictObject({ terse: value, plain: value, polite: value, chatty: value } satisfies Record<Register, T>)

/** Texts with their weights in a data file, as pairs. */
export const weighted = z.record(z.string(), z.int().min(1)).transform((weights) => Object.entries(weights))

/**
 * Returns a function that gives the phrases of `data/<name>.yaml`. The file is read on the first call, once per process.
 * @throws DataFileError, on the first call, with the lines that the schema rejects
 */
export function phraseLists<T>(name: string, schema: z.ZodType<T>): () => T {
  const file = `tasks/synthesis/wording/data/${name}.yaml`
  let known: T | undefined
  return () => {
    known ??= readDataFile(packageFile(file), file, schema).value
    return known
  }
}

/** Draws an item with probability in proportion to its weight. */
export function drawWeighted<T>(items: readonly (readonly [item: T, weight: number])[], random: SeededRandom): T {
  const total = items.reduce((sum, [, weight]) => sum + weight, 0)
  let left = random.int(1, total)
  for (const [item, weight] of items) {
    left -= weight
    if (left <= 0) return item
  }
  throw new RangeError('nothing to draw from')
}
