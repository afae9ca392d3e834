import { existsSync } from 'node:fs'
import { type EngineProcess, openEngine } from '../../rollout/engine/index.js'
import { cpuSeconds } from './cpu-seconds.js'
import { DEMO_MODEL } from './demo-stage.js'
import { type LlamaServer, startLlamaServer } from './llama-server.js'
import { median } from './median.js'
import type { BenchResult } from './result.js'
import { CONTEXT_TOKENS, type PlannedRollout, planGroup } from './rollout-work.js'

/** A model of another vocabulary, for example of `test/fixtures/make_tiny_gguf.py --vocab 151936 --logits 6`. */
const MODEL = process.env.PROVE_BENCH_MODEL ?? DEMO_MODEL
/** llama.cpp's server, of the release in node-llama-cpp (docs/reports/2026-11-benchmarks.md describes how to build it). */
const SERVER = process.env.PROVE_LLAMA_SERVER
/** Rollouts per group, which decode together. */
const SIZES = (process.env.PROVE_BENCH_SIZES ?? '1,8,16').split(',').map(Number)
/** Groups per measurement: about as many rollouts for all sizes. */
const ROLLOUTS = Number(process.env.PROVE_BENCH_ROLLOUTS ?? 48)
const REPEATS = Number(process.env.PROVE_BENCH_REPEATS ?? 5)
const LONGEST_MS = 20 * 60_000

/** One way to generate groups. */
interface Contestant {
  readonly name: string
  readonly pid: () => number
  /** Generates the groups. @returns the number of sampled tokens */
  make(groups: readonly (readonly PlannedRollout[])[], signal: AbortSignal): Promise<number>
}

interface Run {
  readonly seconds: number
  /** CPU time; null: unknown on this system. */
  readonly cpu: number | null
  readonly tokens: number
}

/**
 * Measures groups of rollouts with several turns and tool results, on one CPU thread: one group after the other, with free slots
 * refilled from the next group, and by llama.cpp's server with the same model, slots and prompt cache. The three take turns in one run,
 * in changing order. Reports the median of the repeats and of the ratios within each repeat.
 */
export async function run(): Promise<{ results: BenchResult[] }> {
  if (SERVER === undefined || !existsSync(SERVER))
    console.error(`bench: no llama-server${SERVER === undefined ? '; name it by PROVE_LLAMA_SERVER' : ` at ${SERVER}`}`)
  const results: BenchResult[] = []
  for (const size of SIZES) results.push(...(await measureSize(size)))
  return { results }
}

async function measureSize(size: number): Promise<BenchResult[]> {
  const signal = AbortSignal.timeout(LONGEST_MS)
  const options = { modelPath: MODEL, threads: 1, contextSize: CONTEXT_TOKENS, slots: size, gpu: false } as const
  // The setting of a node.
  const engine = await openEngine(options, { keepCaches: true })
  let server: LlamaServer | null = null
  try {
    if (SERVER !== undefined && existsSync(SERVER)) {
      const place = { program: SERVER, modelPath: MODEL, slots: size, contextSize: CONTEXT_TOKENS }
      server = await startLlamaServer(place, signal)
    }
    const count = Math.max(2, Math.round(ROLLOUTS / size))
    /** New prompts in each repeat: llama-server caches earlier prompts. */
    const groupsOf = (repeat: number): PlannedRollout[][] =>
      Array.from({ length: count }, (_, group) => planGroup(repeat * count + group, size))
    const runs = new Map<Contestant, Run[]>()
    const contestants = contestantsOf(engine, server, size)
    // The first decodes include page faults.
    for (const one of contestants) await one.make([planGroup(-1, size)], signal)
    for (let repeat = 0; repeat < REPEATS; repeat++)
      // The state of the machine changes during a run, so the order rotates.
      for (const one of repeat % 2 === 0 ? contestants : contestants.toReversed())
        runs.set(one, [...(runs.get(one) ?? []), await measure(one, groupsOf(repeat), signal)])
    return summarise(size, count, runs)
  } finally {
    await Promise.all([engine.close(), server?.close()])
  }
}

function contestantsOf(engine: EngineProcess, server: LlamaServer | null, size: number): Contestant[] {
  const pid = (): number => engine.pid!
  const oneByOne: Contestant = {
    ...{ name: 'one group after the other', pid },
    async make(groups, signal) {
      let tokens = 0
      for (const group of groups) tokens += await playGroup(engine, group, signal)
      return tokens
    },
  }
  const refilled: Contestant = {
    ...{ name: 'lanes refilled', pid },
    async make(groups, signal) {
      const made: Promise<number>[] = []
      for (const group of groups) {
        await engine.capacity(signal)
        made.push(playGroup(engine, group, signal))
      }
      return sum(await Promise.all(made))
    },
  }
  // A single slot cannot be refilled early.
  const ours = size === 1 ? [{ ...oneByOne, name: 'one rollout at a time' }] : [oneByOne, refilled]
  if (server === null) return ours
  const peer: Contestant = {
    ...{ name: 'llama-server', pid: () => server.pid },
    async make(groups, signal) {
      const queue = groups.flat()
      const slots = Array.from({ length: size }, async (_, slot) => {
        let tokens = 0
        for (let next = queue.shift(); next; next = queue.shift()) tokens += await server.play(next, slot, signal)
        return tokens
      })
      return sum(await Promise.all(slots))
    },
  }
  return [...ours, peer]
}

async function playGroup(
  engine: EngineProcess,
  group: readonly PlannedRollout[],
  signal: AbortSignal,
): Promise<number> {
  const requests = group.map(({ prompt, turns }) => ({ prompt, seeds: turns.map(({ seed }) => seed) }))
  const sources = await engine.openSlots(requests, signal)
  const counts = sources.map(async (source, i) => {
    let tokens = 0
    for (const { feed, maxTokens } of group[i]!.turns)
      tokens += (await source.next(feed, maxTokens, signal)).tokens.length
    await source.close()
    return tokens
  })
  return sum(await Promise.all(counts))
}

async function measure(
  one: Contestant,
  groups: readonly (readonly PlannedRollout[])[],
  signal: AbortSignal,
): Promise<Run> {
  const [begunMs, cpuBefore] = [performance.now(), cpuSeconds(one.pid())]
  const tokens = await one.make(groups, signal)
  const cpuAfter = cpuSeconds(one.pid())
  const cpu = cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore
  return { seconds: (performance.now() - begunMs) / 1000, cpu, tokens }
}

/** Counts groups, not tokens: a run in which the model ends fewer turns early samples more tokens for the same groups. */
function summarise(size: number, groups: number, runs: ReadonlyMap<Contestant, readonly Run[]>): BenchResult[] {
  const all = [...runs]
  const tokens = sum(all.flatMap(([, own]) => own.map((run) => run.tokens))) / sum(all.map(([, own]) => own.length))
  const of = size === 1 ? 'single stream' : `groups of ${size}`
  const speeds = (own: readonly Run[], time: (run: Run) => number): number[] =>
    own.map((run) => (groups * run.tokens) / (tokens * time(run)))
  const times = [
    { unit: 'groups/s', time: ({ seconds }: Run) => seconds },
    ...(all.every(([, own]) => own.every(({ cpu }) => cpu !== null))
      ? [{ unit: 'groups/CPU s', time: ({ cpu }: Run) => cpu! }]
      : []),
  ]
  return times.flatMap(({ unit, time }) => {
    const peer = all.find(([{ name }]) => name === 'llama-server')
    const theirs = peer && speeds(peer[1], time)
    return all.map(([one, own]) => ({
      ...{ metric: `${of}, ${one.name}`, value: median(speeds(own, time)), unit },
      ...(peer && peer[0] !== one
        ? { peer: 'llama-server', ratio: median(speeds(own, time).map((speed, i) => speed / theirs![i]!)) }
        : {}),
    }))
  })
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
