import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
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
import { checkout } from './checkout.js'
import { CATALOGUE } from './spoken-catalogue.js'

/** Returns a plan of the paper's profile over all environments. */
export const planOf = (examples: number, seed = 5, composition: Composition = compositionOf(examples)): Plan => ({
  recipe: { environments: [...CATALOGUE.keys()], heldOutEnvironments: [], profile: 'paper', seed },
  composition,
  shares: { validation: 0.1, 'held-out': 0.1 },
})

export const context = (environments: readonly SpokenEnvironment[] = [...CATALOGUE.values()], seed = 5) =>
  contextFor(environments, PAPER_PROFILE, seed, createSeedStateCache(64))

/** Runs a plan in a new folder, or in `folder`. */
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

const SAMPLES = planOf(120, 9, { 'multi-turn': 80, clarification: 25, abstention: 15 })
let samples: Promise<Example[]> | undefined

/**
 * Returns 120 examples of every kind and split. Synthesis takes half a minute of a core, so the examples are kept in the temporary folder
 * and made again only when the compiled code has changed.
 */
export function sampleExamples(): Promise<Example[]> {
  samples ??= readOrMake(join(tmpdir(), `prove-test-samples-${codeHash()}.json`))
  return samples
}

async function readOrMake(file: string): Promise<Example[]> {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Example[]
  const { examples } = await runPlan(SAMPLES)
  await writeFileAtomic(file, JSON.stringify(examples))
  return examples
}

/** Hash of the plan, and of all code and speech that synthesis can depend on. */
function codeHash(): string {
  const hash = createHash('sha256').update(JSON.stringify(SAMPLES)).update(process.versions.node)
  hash.update(readFileSync(join(checkout, 'package-lock.json')))
  const include = (folder: string, extension: string): void => {
    for (const name of (readdirSync(join(checkout, folder), { recursive: true }) as string[]).sort())
      if (name.endsWith(extension)) hash.update(name).update(readFileSync(join(checkout, folder, name)))
  }
  for (const folder of ['common', 'servers', 'rollout', 'tasks']) include(join('dist', folder), '.js')
  for (const folder of ['servers', 'tasks']) include(folder, '.yaml')
  return hash.digest('hex').slice(0, 32)
}
