import '../../swarm/polyfill.js'
import { getLlama, LlamaLogLevel, type Token as NativeToken } from 'node-llama-cpp'
import { createDrawTable } from '../../engine/draw.js'
import type { LlamaTurn } from '../../engine/llama.js'
import { createLockstep } from '../../engine/lockstep.js'
import type { Engine, SampledTurn, Token, TokenSource } from '../../engine/types.js'

/**
 * A node's engine that samples at a temperature of its own; everything else is as in the honest one, the noise of each draw
 * included, so that it is as near to the announced policy as such a sampler can be.
 */
export interface CheatEngine {
  readonly openLanes: Engine['openLanes']
  close(): Promise<void>
}

export interface CheatEngineOptions {
  readonly modelPath: string
  /** Path of the LoRA adapter in force; null: the bare base. */
  readonly adapter: string | null
  readonly lanes: number
  readonly contextSize: number
  /** 0 decodes greedily. */
  readonly temperature: number
}

export async function openCheatEngine({
  modelPath,
  adapter,
  lanes,
  contextSize,
  temperature,
}: CheatEngineOptions): Promise<CheatEngine> {
  const llama = await getLlama({ gpu: false, build: 'never', logLevel: LlamaLogLevel.error, maxThreads: 1 })
  const model = await llama.loadModel({ modelPath })
  const context = await model.createContext({
    contextSize,
    sequences: lanes,
    batchSize: 512,
    threads: 1,
    flashAttention: false,
    ...(adapter === null ? {} : { lora: adapter }),
  })
  const sequences = Array.from({ length: lanes }, () => context.getSequence())
  const table = createDrawTable(model.fileInfo.metadata.tokenizer.ggml.tokens.length)
  const begin = (lane: number, feed: readonly Token[], seed: number): LlamaTurn => {
    let next = [...feed]
    let position = 0
    return {
      async next() {
        const ids = next as NativeToken[]
        const generateNext = { logits: true, options: { temperature: 1, topK: 0, topP: 1, minP: 0 } } as const
        const rows = await sequences[lane]!.controlledEvaluate([...ids.slice(0, -1), [ids.at(-1)!, { generateNext }]])
        const logits = [...rows.at(-1)!.next.logits!]
        const draw = { seed, position: position++ }
        const scaled = logits.map(([token, logit]) => [token, logit / (temperature || 1)] as const)
        const token = temperature === 0 ? logits[0]![0] : table.select(draw, scaled, table.largestNoise(draw))
        next = [token]
        const top = scaled[0]![1]
        const total = scaled.reduce((sum, [, logit]) => sum + Math.exp(logit - top), 0)
        const own = scaled.find(([other]) => other === token)![1]
        return { token, logprob: Math.min(0, own - top - Math.log(total)) }
      },
    }
  }
  return {
    async openLanes(requests) {
      for (const sequence of sequences) await sequence.clearHistory()
      for (const [i, { prompt }] of requests.entries())
        await sequences[i]!.evaluateWithoutGeneratingNewTokens(prompt.slice(0, -1) as NativeToken[])
      const waiting = new Map<number, PromiseWithResolvers<SampledTurn>>()
      const lockstep = createLockstep(
        requests.map(({ prompt, seeds }) => ({ last: prompt.at(-1)!, seeds })),
        requests.map((_, lane) => ({ begin: (feed: readonly Token[], seed: number) => begin(lane, feed, seed) })),
        {
          laneWaitMs: 250,
          isEndOfGeneration: (token) => model.isEogToken(token as NativeToken),
          onTurn: (lane, turn) => waiting.get(lane)!.resolve(turn),
          onFailed: (lane, error) => waiting.get(lane)?.reject(error),
        },
      )
      return requests.map((_, lane): TokenSource => {
        return {
          next(feed, maxTokens) {
            const turn = Promise.withResolvers<SampledTurn>()
            waiting.set(lane, turn)
            lockstep.next(lane, feed, maxTokens)
            return turn.promise
          },
          async close() {
            lockstep.leave(lane)
          },
        }
      })
    },
    async close() {
      await context.dispose()
      await model.dispose()
      await llama.dispose()
    },
  }
}
