import { contextFor, type EngineSpeed, measureSpeed } from '../../node/work/engine-speed.js'
import {
  type Draw,
  type EngineProcess,
  openEngine,
  type Placement,
  type Token,
  type Tokenizer,
} from '../../rollout/engine/index.js'

/** How much an engine is asked for. */
export interface Trial {
  /** Number of rollouts to sample, twice, and the largest number of slots whose speed is measured. */
  readonly slots: number
  readonly promptTokens: number
  /** Per rollout. */
  readonly sampledTokens: number
}

export const TRIALS = {
  hardware: { slots: 8, promptTokens: 256, sampledTokens: 64 },
  /** Some tokens a second are all that a GPU gives that is none. */
  software: { slots: 2, promptTokens: 24, sampledTokens: 8 },
} satisfies Record<string, Trial>

/** What was sampled in one turn, with the draw behind each token. */
export interface Sampled {
  readonly tokens: readonly Token[]
  readonly draws: readonly Draw[]
}

/** What one engine says. */
export interface EngineReport {
  readonly build: { readonly nodeLlamaCpp: string; readonly backend: string }
  readonly placement: Placement
  /** Of each token of the rollouts that the reference has sampled (nats). */
  readonly logprobs: readonly number[]
  /** Of the draws behind them, those that select another token by this engine's distributions. */
  readonly missedDraws: number
  /** Whether the same seeds have given the same tokens twice. */
  readonly repeats: boolean
  readonly speeds: readonly { readonly slots: number; readonly speed: EngineSpeed }[]
}

export interface Bench {
  readonly modelPath: string
  readonly tokenizer: Tokenizer
  readonly threads: number
  readonly trial: Trial
}

const TEXT = 'The clerk writes down who has paid for the parcel, and asks for the number of the invoice. '

/** The rollouts by which engines are compared: the CPU samples them. @throws EngineError; the signal's reason */
export async function sampleReference(bench: Bench, signal: AbortSignal): Promise<readonly Sampled[]> {
  return await withEngine(bench, false, (engine) => sample(engine, bench, signal))
}

/** @throws EngineError; the signal's reason */
export async function examineEngine(
  bench: Bench,
  gpu: 'auto' | false,
  rollouts: readonly Sampled[],
  signal: AbortSignal,
): Promise<EngineReport> {
  return await withEngine(bench, gpu, async (engine) => {
    const { build, placement } = engine
    const prompt = promptOf(bench)
    const audit = []
    for (const { tokens, draws } of rollouts)
      audit.push(...(await engine.scoreTokens([...prompt, ...tokens], prompt.length, signal, draws)))
    const [first, second] = [await sample(engine, bench, signal), await sample(engine, bench, signal)]
    const speeds = []
    for (const slots of [1, bench.trial.slots])
      speeds.push({
        slots,
        speed: await measureSpeed({ engine, tokenizer: bench.tokenizer }, { ...bench.trial, slots }, signal),
      })
    return {
      build: { ...build },
      placement,
      logprobs: audit.map(({ logprob }) => logprob),
      missedDraws: audit.filter(({ logitError }) => logitError > 0).length,
      repeats: JSON.stringify(first) === JSON.stringify(second),
      speeds,
    }
  })
}

async function withEngine<T>(
  { modelPath, threads, trial }: Bench,
  gpu: 'auto' | false,
  work: (engine: EngineProcess) => Promise<T>,
): Promise<T> {
  const engine = await openEngine({ modelPath, threads, slots: trial.slots, contextSize: contextFor(trial), gpu })
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

async function sample(engine: EngineProcess, bench: Bench, signal: AbortSignal): Promise<readonly Sampled[]> {
  const prompt = promptOf(bench)
  const seeds = Array.from({ length: bench.trial.slots }, (_, slot) => slot + 1)
  const sources = await engine.openSlots(
    seeds.map((seed) => ({ prompt, seeds: [seed] })),
    signal,
  )
  return await Promise.all(
    sources.map(async (source, slot) => {
      const { tokens } = await source.next([], bench.trial.sampledTokens, signal)
      await source.close()
      return { tokens, draws: tokens.map((_, position) => ({ seed: seeds[slot]!, position })) }
    }),
  )
}

function promptOf({ tokenizer, trial }: Bench): readonly Token[] {
  const sentence = tokenizer.tokenize(TEXT, false)
  return Array.from({ length: trial.promptTokens }, (_, i) => sentence[i % sentence.length]!)
}
