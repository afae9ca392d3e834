import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSeedStateCache, type SpokenEnvironment } from '../../servers/kernel/index.js'
import { type Example, PAPER_PROFILE } from '../../tasks/dataset/index.js'
import {
  type Composition,
  compositionOf,
  contextFor,
  createWorkers,
  openFinishedBatches,
  type Plan,
  produce,
} from '../../tasks/synthesis/index.js'
import { CATALOGUE } from './spoken-catalogue.js'

/** A plan of the paper's profile over all worlds. */
export const planOf = (examples: number, seed = 5, composition: Composition = compositionOf(examples)): Plan => ({
  recipe: { environments: [...CATALOGUE.keys()], heldOutEnvironments: [], profile: 'paper', seed },
  composition,
  shares: { validation: 0.1, 'held-out': 0.1 },
})

export const context = (environments: readonly SpokenEnvironment[] = [...CATALOGUE.values()], seed = 5) =>
  contextFor(environments, PAPER_PROFILE, seed, createSeedStateCache(64))

/** Runs a plan in a folder of its own, or in `folder`. */
export async function runPlan(
  plan: Plan,
  { threads = 2, folder = '', signal = new AbortController().signal, onKept = (_: number): void => {} } = {},
): Promise<{ examples: Example[]; drops: object }> {
  const finished = folder === '' ? mkdtempSync(join(tmpdir(), 'prove-parts-')) : folder
  const workers = createWorkers(threads)
  try {
    const production = await produce(plan, {
      workers,
      threads,
      batchSize: 8,
      finished: await openFinishedBatches(finished, plan),
      signal,
      onProgress: ({ kept }) => onKept(kept),
    })
    const examples: Example[] = []
    for await (const example of production.examples()) examples.push(example)
    return { examples, drops: production.drops }
  } finally {
    await workers.close()
    if (folder === '') rmSync(finished, { recursive: true, force: true })
  }
}
