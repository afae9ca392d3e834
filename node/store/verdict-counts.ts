import { readFileSync } from 'node:fs'
import writeFileAtomic from 'write-file-atomic'
import { z } from 'zod'
import { PRIVATE_FILE } from '../../common/control/index.js'

/**
 * Numbers of verdicts that were put on record, by run. LevelDB drops the end of a damaged file without an error, so the numbers are in a
 * separate file next to the database.
 */
export interface VerdictCounts {
  of(runId: string): number
  /** Adds to the number of a run. Resolves when it is on disk. */
  add(runId: string, verdicts: number): Promise<void>
  /** Replaces the number of a run, after a loss was reported. */
  reset(runId: string, verdicts: number): Promise<void>
}

const fileSchema = z.record(z.string(), z.int().min(0))

/** Opens the numbers of a database. A file that is missing or damaged counts as empty: it only serves to find losses. */
export function openVerdictCounts(databaseFolder: string): VerdictCounts {
  const path = `${databaseFolder}.counts.json`
  const counts = new Map(Object.entries(read(path)))
  const write = (): Promise<void> =>
    writeFileAtomic(path, `${JSON.stringify(Object.fromEntries(counts))}\n`, { mode: PRIVATE_FILE })
  return {
    of: (runId) => counts.get(runId) ?? 0,
    add(runId, verdicts) {
      counts.set(runId, (counts.get(runId) ?? 0) + verdicts)
      return write()
    },
    reset(runId, verdicts) {
      counts.set(runId, verdicts)
      return write()
    },
  }
}

function read(path: string): Readonly<Record<string, number>> {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return {}
  }
}
