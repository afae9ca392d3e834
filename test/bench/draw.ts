import '../../swarm/polyfill.js'
import { createDrawTable } from '../../rollout/engine/gumbel-max.js'
import { openPolicy } from '../../rollout/engine/llama.js'
import type { LlamaSequence } from '../../rollout/engine/sequence.js'
import { DEMO_MODEL } from './demo-stage.js'
import type { BenchResult } from './result.js'

/** A model of another vocabulary, for example of `test/fixtures/make_tiny_gguf.py --vocab 151936`. */
const MODEL = process.env.PROVE_BENCH_MODEL ?? DEMO_MODEL
const SLOTS = 8
const TOKENS = 40
const WEIGHED = 16
const REPEATS = 4
const PROMPT = Array.from({ length: 60 }, (_, i) => (i * 37) % 256)

/**
 * Measures the cost of Gumbel-max sampling compared with the forward pass: CPU time of one thread per token, the least of some
 * repeats. Compares sampling with feeding as many tokens without reading their distributions, the noise of a whole vocabulary alone,
 * and the expected mismatch of a token for `prove-node verify-group`.
 */
export async function run(): Promise<{ results: BenchResult[] }> {
  const options = { modelPath: MODEL, threads: 1, contextSize: 256, slots: SLOTS, gpu: false } as const
  const policy = await openPolicy(options, null)
  try {
    const { sequences, vocabularySize } = policy
    const together = (work: (sequence: LlamaSequence, slot: number) => Promise<unknown>): Promise<unknown> =>
      Promise.all(sequences.map(work))
    const reopen = async (): Promise<void> => {
      await together((sequence) => sequence.clear())
      await together((sequence) => sequence.prefill(PROMPT))
    }
    const table = createDrawTable(vocabularySize)
    const costs = new Map<string, number[]>()
    const measure = async (name: string, tokens: number, work: () => Promise<unknown>): Promise<void> => {
      const before = process.cpuUsage()
      await work()
      const { user, system } = process.cpuUsage(before)
      costs.set(name, [...(costs.get(name) ?? []), (user + system) / 1000 / tokens])
    }
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      await reopen()
      await measure('a token fed', TOKENS * SLOTS, async () => {
        for (let i = 0; i < TOKENS; i++) await together((sequence) => sequence.prefill([i]))
      })
      await reopen()
      const turns = sequences.map((sequence, slot) => sequence.begin([0], repeat * SLOTS + slot, 1))
      await measure('a token sampled', TOKENS * SLOTS, async () => {
        for (let i = 0; i < TOKENS; i++) await Promise.all(turns.map((turn) => turn.next()))
      })
      await measure('noise of the vocabulary', TOKENS, async () => {
        for (let position = 0; position < TOKENS; position++) table.noise({ seed: repeat, position })
      })
      await reopen()
      const targets = PROMPT.slice(0, WEIGHED)
      const draws = targets.map((_, position) => ({ seed: repeat, position }))
      await measure('evidence on a token', WEIGHED, () => sequences[0]!.predict(targets, targets, draws))
    }
    return {
      results: [...costs].map(([name, ms]) => ({
        metric: `${name}, vocabulary of ${vocabularySize}`,
        value: Math.min(...ms),
        unit: 'ms',
      })),
    }
  } finally {
    await policy.dispose()
  }
}
