import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { LineCounter, type Node, parseDocument } from 'yaml'
import type { z } from 'zod'
import { CodedError } from '../common/errors/index.js'

/** A data file cannot be used; `detail` gives the file, the line and what to change. */
export class DataFileError extends CodedError<'bad_data_file'> {}

/** The contents of a YAML file that agrees with its schema. */
export interface DataFile<T> {
  readonly value: T
  /** Returns `file:line` of the text at a path, or of the nearest text around it; for an empty path, the file. */
  at(path: readonly PropertyKey[]): string
}

/** Defects shown in one error: more would scroll the first ones away. */
const MOST_SHOWN = 10

/** Root of this package: `dist/servers/` has no data files, the sources next to `dist/` have them. */
const ROOT = new URL(import.meta.url.endsWith('.js') ? '../../' : '../', import.meta.url)

/**
 * Returns the absolute path of a data file of this package.
 * @param path  relative to the root of the package: `servers/banking/speech.yaml`
 */
export const packageFile = (path: string): string => fileURLToPath(new URL(path, ROOT))

/**
 * Reads a YAML file and checks it against a schema.
 * @param shown  name of the file in errors
 * @throws DataFileError with the line of each defect: bad YAML, a duplicate key, or a value that the schema rejects
 */
export function readDataFile<T>(file: string, shown: string, schema: z.ZodType<T>): DataFile<T> {
  const lines = new LineCounter()
  const document = parseDocument(readFileSync(file, 'utf8'), { lineCounter: lines, prettyErrors: false })
  const bad = document.errors.map(({ pos, message }) => `${shown}:${lines.linePos(pos[0]).line}: ${message}`)
  if (bad.length > 0) throw dataFileError(bad)
  const at = (path: readonly PropertyKey[]): string => {
    for (let length = path.length; length > 0; length--) {
      const node = document.getIn(path.slice(0, length), true) as Node | undefined
      if (node?.range)
        return `${shown}:${lines.linePos(keyStart(document, path.slice(0, length)) ?? node.range[0]).line}`
    }
    return shown
  }
  const parsed = schema.safeParse(document.toJS())
  if (parsed.success) return { value: parsed.data, at }
  throw dataFileError(
    parsed.error.issues.map(
      ({ path, message }) => `${at(path)}: ${path.map(String).join('.') || 'the file'}: ${message}`,
    ),
  )
}

/** Returns an error that lists the defects, one per line. */
export function dataFileError(defects: readonly string[]): DataFileError {
  const more = defects.length - MOST_SHOWN
  const shown = [...defects.slice(0, MOST_SHOWN), ...(more > 0 ? [`… and ${more} more`] : [])]
  return new DataFileError('bad_data_file', shown.join('\n'))
}

/** Returns where the key of a mapping's entry begins: the value of a block begins a line later. */
function keyStart(document: ReturnType<typeof parseDocument>, path: readonly PropertyKey[]): number | undefined {
  const parent = path.length === 0 ? undefined : document.getIn(path.slice(0, -1), true)
  const items = (parent as { items?: readonly { key?: { value?: unknown; range?: readonly number[] } }[] })?.items
  return items?.find(({ key }) => key?.value === path.at(-1))?.key?.range?.[0]
}
