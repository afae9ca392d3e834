import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSeedStateCache } from '../../servers/kernel/index.js'
import {
  diversity,
  type Example,
  openDataset,
  PAPER_PROFILE,
  verifyDataset,
  writeDataset,
} from '../../tasks/dataset/index.js'
import {
  compositionOf,
  createSanityCheck,
  createWorkers,
  openFinishedBatches,
  type Plan,
  produce,
  SPLIT_SHARES,
} from '../../tasks/synthesis/index.js'
import { CATALOGUE } from '../support/spoken-catalogue.js'
import type { BenchResult } from './result.js'
import { wordSpread } from './word-spread.js'

/** Number of examples of the paper's data set. */
const EXAMPLES = 13_517
/** Number of words in the user turns of BFCL's multi-turn tasks, so that shares of distinct words are comparable. */
const WORDS = 23_000

/** Measures the synthesis, writing and replay of the paper's data set, on all cores. */
export async function run(): Promise<{ results: BenchResult[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-bench-'))
  const threads = availableParallelism()
  const workers = createWorkers(threads)
  try {
    const plan: Plan = {
      recipe: { environments: [...CATALOGUE.keys()], heldOutEnvironments: [], profile: 'paper', seed: 0 },
      composition: compositionOf(EXAMPLES),
      shares: SPLIT_SHARES,
    }
    const { signal } = new AbortController()
    const begun = performance.now()
    const finished = await openFinishedBatches(join(folder, 'parts'), plan)
    const { examples, drops } = await produce(plan, { workers, threads, finished, signal, onProgress: () => {} })
    const made = performance.now()
    const sanity = createSanityCheck(CATALOGUE)
    let spread: Readonly<Record<string, number>> = {}
    async function* checked(): AsyncGenerator<Example> {
      for await (const example of examples()) {
        sanity.add(example)
        yield example
      }
    }
    const out = join(folder, 'data-set')
    await writeDataset(
      out,
      checked(),
      {
        title: 'Benchmark',
        profile: PAPER_PROFILE,
        seed: 0,
        settings: {},
        provenance: [],
        diversity: (texts) => {
          const spoken = diversity(texts)
          const { distinct2, distinct3, selfBleu4 } = wordSpread(texts, WORDS)
          spread = {
            ...spoken,
            'distinct2 at 23,000': distinct2,
            'distinct3 at 23,000': distinct3,
            'self-BLEU-4 at 23,000': selfBleu4,
          }
          return { ...spoken }
        },
        outcome: () => ({ drops, sanity: sanity.finish() }),
      },
      CATALOGUE,
    )
    const written = performance.now()
    const verified = await verifyDataset(await openDataset(out, CATALOGUE), CATALOGUE, createSeedStateCache(), signal)
    const seconds = (from: number, to: number): number => (to - from) / 1000
    const coverage = JSON.parse(await readFile(join(out, 'coverage.json'), 'utf8')) as Coverage
    const counts = coverage.tools.map(({ examples: per }) => Object.values(per).reduce((sum, count) => sum + count, 0))
    return {
      results: [
        { metric: `making ${EXAMPLES} examples on ${threads} threads`, value: seconds(begun, made), unit: 's' },
        { metric: 'writing them, with sanity check', value: seconds(made, written), unit: 's' },
        { metric: 'making and writing', value: seconds(begun, written), unit: 's' },
        { metric: 'playing them again', value: seconds(written, performance.now()), unit: 's' },
        { metric: 'examples that reproduce', value: verified.examples, unit: 'examples' },
        { metric: 'tools covered', value: counts.filter((count) => count > 0).length, unit: 'tools' },
        { metric: 'examples with the least covered tool', value: Math.min(...counts), unit: 'examples' },
        { metric: 'wrong answers that earn the maximum', value: sanity.blind, unit: 'examples' },
        ...Object.entries(drops).map(([reason, value]) => ({
          metric: `dropped: ${reason}`,
          value,
          unit: 'candidates',
        })),
        ...Object.entries(spread).map(([name, value]) => ({ metric: `words: ${name}`, value, unit: '' })),
      ],
    }
  } finally {
    await workers.close()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Coverage {
  readonly tools: readonly { readonly examples: Readonly<Record<string, number>> }[]
}
