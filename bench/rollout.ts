import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type EngineProcess, openEngine, type Token } from '../engine/index.js'
import type { BenchResult } from './result.js'

const PROMPT_TOKENS = 160
const SAMPLED_TOKENS = 100
const FEED_TOKENS = 12
const LANES = [1, 4, 8, 16]
const REPEATS = 3

/**
 * Sampled tokens per second of the engine on one CPU thread, over lanes decoding in lockstep, and the time to open a group
 * with and without a shared prefill. Uses the demo model, or a random one of its size in `.cache/bench-model`.
 */
export async function run(): Promise<{ results: BenchResult[] }> {
  const modelPath = findModel()
  const options = { modelPath, threads: 1, contextSize: 512, lanes: Math.max(...LANES), gpu: false } as const
  const results: BenchResult[] = []
  for (const sharePrefill of [true, false]) {
    const engine = await openEngine(options, { sharePrefill })
    try {
      await measureGroup(engine, 2, 20) // the first decodes pay for page faults
      for (const lanes of LANES) {
        const runs = []
        for (let repeat = 0; repeat < REPEATS; repeat++) runs.push(await measureGroup(engine, lanes, SAMPLED_TOKENS))
        results.push(...summarise(lanes, sharePrefill, runs))
      }
    } finally {
      await engine.close()
    }
  }
  return { results }
}

interface Run {
  readonly openMs: number
  readonly sampleMs: number
  readonly tokens: number
}

/** The best of the repeats: other work on the machine only ever makes a run slower. */
function summarise(lanes: number, shared: boolean, runs: readonly Run[]): BenchResult[] {
  const prefill = shared ? 'shared prefill' : 'separate prefills'
  const openMs = Math.min(...runs.map((run) => run.openMs))
  const sampled = Math.max(...runs.map(({ tokens, sampleMs }) => (1000 * tokens) / sampleMs))
  const whole = Math.max(...runs.map(({ tokens, sampleMs, openMs }) => (1000 * tokens) / (openMs + sampleMs)))
  const results = [
    { metric: `open ${lanes} lanes, ${prefill} of ${PROMPT_TOKENS} tokens`, value: openMs, unit: 'ms' },
    { metric: `rollouts in ${lanes} lanes, ${prefill} included`, value: whole, unit: 'sampled tokens/s' },
  ]
  if (shared) results.unshift({ metric: `lockstep, ${lanes} lanes`, value: sampled, unit: 'sampled tokens/s' })
  return results.map((result) => ({ ...result, value: Math.round(result.value * 10) / 10 }))
}

/** Rollouts of several turns until each lane has sampled so many tokens. */
async function measureGroup(engine: EngineProcess, lanes: number, perLane: number): Promise<Run> {
  const signal = AbortSignal.timeout(120_000)
  const prompt: Token[] = Array.from({ length: PROMPT_TOKENS }, (_, i) => (i * 37) % 256)
  const begun = performance.now()
  const seedsOf = (lane: number) => Array.from({ length: perLane }, (_, turn) => lane * 1000 + turn)
  const sources = await engine.openLanes(
    Array.from({ length: lanes }, (_, lane) => ({ prompt, seeds: seedsOf(lane) })),
    signal,
  )
  const opened = performance.now()
  const counts = await Promise.all(
    sources.map(async (source) => {
      let sampled = 0
      while (sampled < perLane) {
        const feed = sampled === 0 ? [] : prompt.slice(0, FEED_TOKENS)
        // A lane that ends its turns early uses its context up with feeds; it then has done its share.
        const turn = await source.next(feed, perLane - sampled, signal).catch((error: { code?: string }) => {
          if (error.code === 'context_full') return null
          throw error
        })
        if (turn === null) break
        sampled += turn.tokens.length
      }
      await source.close()
      return sampled
    }),
  )
  const tokens = counts.reduce((sum, count) => sum + count, 0)
  return { openMs: opened - begun, sampleMs: performance.now() - opened, tokens }
}

function findModel(): string {
  const root = fileURLToPath(new URL('../', import.meta.url)).replace(/dist\/$/, '')
  const demo = join(root, 'models', 'demo')
  const shipped = existsSync(demo) ? readdirSync(demo).find((name) => name.endsWith('.gguf')) : undefined
  if (shipped !== undefined) return join(demo, shipped)
  const random = join(root, '.cache', 'bench-model', 'base.gguf')
  if (existsSync(random)) return random
  throw new Error(
    'no model in models/demo; make a random one: python test/fixtures/make_tiny_gguf.py .cache/bench-model ' +
      '--layers 6 --hidden 256 --heads 4 --kv-heads 2 --head-dim 64 --ffn 768 --vocab 2048',
  )
}
