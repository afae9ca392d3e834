import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { DatasetError } from './errors.js'
import { RECORD_LIMITS } from './record.js'

export interface Line {
  readonly text: string
  /** From 1. */
  readonly number: number
  /** `train.jsonl, line 3`. */
  readonly where: string
}

const LINE_FEED = 0x0a

/**
 * Yields the lines of a file, each at most `RECORD_LIMITS.lineBytes` long.
 * @throws DatasetError `missing_file`, `line_too_long`, `truncated_file` if the last line has no end, `damaged_record` if a line is not
 *   UTF-8
 */
export async function* linesOf(path: string, signal?: AbortSignal): AsyncGenerator<Line> {
  const file = await openFile(path)
  try {
    const whereIs = (number: number): string => `${basename(path)}, line ${number}`
    let number = 1
    let pending: Buffer[] = []
    let pendingBytes = 0
    for await (const chunk of file.createReadStream({ autoClose: false, ...(signal ? { signal } : {}) })) {
      let rest = chunk as Buffer
      for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
        const bytes = Buffer.concat([...pending, rest.subarray(0, end)])
        const where = whereIs(number)
        if (bytes.length >= RECORD_LIMITS.lineBytes) throw tooLong(where)
        yield { text: decode(bytes, where), number, where }
        number++
        pending = []
        pendingBytes = 0
        rest = rest.subarray(end + 1)
      }
      pending.push(rest)
      pendingBytes += rest.length
      if (pendingBytes >= RECORD_LIMITS.lineBytes) throw tooLong(whereIs(number))
    }
    if (pendingBytes > 0) {
      throw new DatasetError('truncated_file', `${whereIs(number)}: the file ends within a line. Fetch it again.`)
    }
  } finally {
    await file.close()
  }
}

async function openFile(path: string): ReturnType<typeof open> {
  try {
    const file = await open(path)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (cause) {
    throw new DatasetError('missing_file', `${path} cannot be opened (${(cause as Error).message}). Check the path.`, {
      cause,
    })
  }
  throw new DatasetError('missing_file', `${path} is not a file. Name a .jsonl file of a data set.`)
}

const tooLong = (where: string): DatasetError =>
  new DatasetError(
    'line_too_long',
    `${where}: longer than ${RECORD_LIMITS.lineBytes} bytes, so not a record. Check that it is a data set's .jsonl file.`,
  )

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Uint8Array, where: string): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new DatasetError('damaged_record', `${where}: not UTF-8. Fetch the file again.`, { cause })
  }
}
