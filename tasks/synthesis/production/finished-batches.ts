import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { SynthesisError } from '../making/recipe.js'
import type { BatchResult } from './make-batch.js'

/**
 * Finished batches of a synthesis on disk, so that a killed synthesis can resume. Each batch is written atomically.
 */
export interface FinishedBatches {
  /** Returns the results of a batch: from disk, or made now and stored. */
  of(pass: number, batch: number, make: () => Promise<BatchResult[]>): Promise<BatchResult[]>
  /** Returns the results of a finished batch. */
  read(pass: number, batch: number): Promise<BatchResult[]>
  /** Removes all batches. */
  remove(): Promise<void>
}

/**
 * Opens the finished batches in a folder.
 * @param plan  everything that determines the examples, including the program; a folder with another plan is rejected
 * @throws SynthesisError `other_plan`
 */
export async function openFinishedBatches(folder: string, plan: object): Promise<FinishedBatches> {
  await mkdir(folder, { recursive: true })
  const planFile = join(folder, 'plan.json')
  const wanted = JSON.stringify(plan)
  const found = await readIfThere(planFile)
  if (found === undefined) await writeFileAtomic(planFile, wanted)
  else if (found !== wanted) {
    throw new SynthesisError(
      'other_plan',
      `${folder} contains an unfinished synthesis with other settings or another version of this program: use the same settings and program, or remove the folder`,
    )
  }
  const pathOf = (pass: number, batch: number): string => join(folder, `${pass}-${batch}.json`)
  return {
    async of(pass, batch, make) {
      const path = pathOf(pass, batch)
      const kept = await readIfThere(path)
      if (kept !== undefined) return JSON.parse(kept) as BatchResult[]
      const made = await make()
      await writeFileAtomic(path, JSON.stringify(made))
      return made
    },
    read: async (pass, batch) => JSON.parse(await readFile(pathOf(pass, batch), 'utf8')) as BatchResult[],
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}
