import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { SynthesisError } from '../making/recipe.js'
import type { BatchResult } from './make-batch.js'

/**
 * The batches that a synthesis has finished, kept on disk so that one that was killed goes on where it was. A batch is
 * written as a whole or not at all.
 */
export interface FinishedBatches {
  /** The results of a batch: from disk if it was made before, otherwise made now and kept. */
  of(pass: number, batch: number, make: () => Promise<BatchResult[]>): Promise<BatchResult[]>
  /** Those of a finished batch. */
  read(pass: number, batch: number): Promise<BatchResult[]>
  /** Forgets them, when the data set is complete. */
  remove(): Promise<void>
}

/**
 * @param plan  what fixes the examples, the program included; a folder that holds the parts of another plan is refused
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
      `${folder} holds an unfinished synthesis with other settings, or of another version of this program. Go on with the same settings and program, or remove the folder.`,
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
