import '../swarm/polyfill.js'
import Table from 'cli-table3'
import { calibratedName, type EngineProcess, openEngine, type SampledTurn, type Token } from '../engine/index.js'
import { DEMO_MODEL } from './demo-stage.js'

export interface GpuCheckOptions {
  /** Path of a GGUF. Default: the demo's model. */
  readonly model?: string
  /** Sampled in each rollout. */
  readonly tokens: number
  readonly lanes: number
  /** Mesa's Vulkan on the CPU may pass for a GPU. */
  readonly software: boolean
}

/** What was found: the GPU computes what the CPU does, it does not, or there is none. */
export type Finding = 'equal' | 'different' | 'no GPU'

/**
 * Means that a sampler in float16 keeps to: ten times what two orders of adding up were seen to differ by (1e-3 nats), and far
 * below what another model differs by (0.05 and more).
 */
const MEAN_NATS = 0.01
/** Draws that such errors turn over: 0.56 of their deviation per unit of evidence (docs/judging.md), with room for chance. */
const MISSED_SHARE = 0.02

const PROMPT: readonly Token[] = Array.from({ length: 60 }, (_, i) => (i * 37) % 256)
const LONGEST_MS = 30 * 60_000

/** Samples the same rollouts on the CPU and on the GPU, lets each look at what the CPU has sampled, and prints both in a table. */
export async function checkGpu({ model, tokens, lanes, software }: GpuCheckOptions): Promise<Finding> {
  const signal = AbortSignal.timeout(LONGEST_MS)
  const common = { modelPath: model ?? DEMO_MODEL, threads: 2, contextSize: PROMPT.length + tokens + 16, lanes }
  const gpu = await openEngine({ ...common, gpu: 'auto', ...(software ? { gpuDevice: 0 } : {}) })
  try {
    const { device, deviceNames, layers, allLayers, flashAttention } = gpu.placement
    if (layers === 0 || (device === 'lavapipe') !== software) {
      console.error(`gpu-check: skipped, the engine finds no ${software ? 'software Vulkan' : 'GPU'} (${device})`)
      return 'no GPU'
    }
    const cpu = await openEngine({ ...common, gpu: false })
    try {
      const samples = [await sample(cpu, lanes, tokens, signal), await sample(gpu, lanes, tokens, signal)] as const
      const looks = await compare(cpu, gpu, samples[0].turns, signal)
      const same = samples[0].turns.filter(({ tokens: said }, i) => said.join() === samples[1].turns[i]!.tokens.join())
      const table = new Table({ head: ['', 'CPU', 'GPU'], style: { head: [], border: [] } })
      table.push(
        ['backend', calibratedName(cpu.build), calibratedName(gpu.build)],
        ['device', '', deviceNames.join(', ')],
        ['layers there', '', `${layers} of ${allLayers}`],
        ['flash attention', 'no', flashAttention ? 'yes' : 'no'],
        ['sampled tokens/s, prompt included', ...samples.map(({ perSecond }) => perSecond.toPrecision(3))],
        ['rollouts with the same tokens', '', `${same.length} of ${lanes}`],
        ['tokens weighed on both', '', `${looks.count}`],
        ["difference of a token's log-probability, mean", '', `${looks.mean.toPrecision(2)} nats`],
        ['the largest', '', `${looks.largest.toPrecision(2)} nats`],
        ['draws that do not select the token', `${looks.missed[0]}`, `${looks.missed[1]}`],
      )
      console.log(table.toString())
      const isEqual = looks.mean <= MEAN_NATS && looks.missed[1] <= Math.max(1, MISSED_SHARE * looks.count)
      console.log(isEqual ? 'the GPU computes what the CPU does' : 'the GPU computes something else than the CPU')
      return isEqual ? 'equal' : 'different'
    } finally {
      await cpu.close()
    }
  } finally {
    await gpu.close()
  }
}

async function sample(engine: EngineProcess, lanes: number, tokens: number, signal: AbortSignal) {
  const begunMs = performance.now()
  const requests = Array.from({ length: lanes }, (_, lane) => ({ prompt: PROMPT, seeds: [lane] }))
  const sources = await engine.openLanes(requests, signal)
  const turns = await Promise.all(sources.map((source) => source.next([], tokens, signal)))
  await Promise.all(sources.map((source) => source.close()))
  const count = turns.reduce((sum, turn) => sum + turn.tokens.length, 0)
  return { turns, perSecond: (1000 * count) / (performance.now() - begunMs) }
}

/** Both look at the same tokens and draws. */
async function compare(cpu: EngineProcess, gpu: EngineProcess, turns: readonly SampledTurn[], signal: AbortSignal) {
  const differences: number[] = []
  const missed: [number, number] = [0, 0]
  for (const [seed, { tokens }] of turns.entries()) {
    const draws = tokens.map((_, position) => ({ seed, position }))
    const look = (engine: EngineProcess) => engine.evidence([...PROMPT, ...tokens], PROMPT.length, signal, draws)
    const [here, there] = [await look(cpu), await look(gpu)]
    differences.push(...here.map(({ logprob }, i) => Math.abs(logprob - there[i]!.logprob)))
    for (const [i, looks] of [here, there].entries()) missed[i]! += looks.filter(({ repair }) => repair > 0).length
  }
  const count = differences.length
  return { count, mean: differences.reduce((a, b) => a + b, 0) / count, largest: Math.max(...differences), missed }
}
