import '../../swarm/polyfill.js'
import { getLlama, type LlamaContextSequence, LlamaLogLevel, type Token as NativeToken } from 'node-llama-cpp'
import { BATCH_TOKENS } from '../../rollout/engine/constants.js'
import { createDrawTable, selectAmong } from '../../rollout/engine/gumbel-max.js'
import { createLockstep } from '../../rollout/engine/lockstep.js'
import type { LlamaTurn } from '../../rollout/engine/sequence.js'
import type { LockstepSequence } from '../../rollout/engine/slot-caches.js'
import type { Engine, SampledTurn, Token, TokenSource } from '../../rollout/engine/types.js'
import { copySequence } from './sequence-copy.js'

/**
 * A node's engine that samples at a temperature of its own; everything else is as in the honest one, the noise of each draw
 * included, so that it is as near to the announced policy as such a sampler can be.
 */
export interface CheatEngine {
  readonly openSlots: Engine['openSlots']
  close(): Promise<void>
}

export interface CheatEngineOptions {
  readonly modelPath: string
  /** Path of the LoRA adapter in force; null: the bare base. */
  readonly adapter: string | null
  readonly slots: number
  readonly contextSize: number
  /** 0 decodes greedily. */
  readonly temperature: number
}

export async function openCheatEngine({
  modelPath,
  adapter,
  slots,
  contextSize,
  temperature,
}: CheatEngineOptions): Promise<CheatEngine> {
  const llama = await getLlama({ gpu: false, build: 'never', logLevel: LlamaLogLevel.error, maxThreads: 1 })
  const model = await llama.loadModel({ modelPath })
  const context = await model.createContext({
    contextSize,
    sequences: slots,
    batchSize: BATCH_TOKENS,
    threads: 1,
    flashAttention: false,
    ...(adapter === null ? {} : { lora: adapter }),
  })
  const sequences = Array.from({ length: slots }, () => context.getSequence())
  const table = createDrawTable(model.fileInfo.metadata.tokenizer.ggml.tokens.length)
  const begin = (sequence: LlamaContextSequence, feed: readonly Token[], seed: number): LlamaTurn => {
    let next = [...feed]
    const logprobs: number[] = []
    return {
      async next() {
        const ids = next as NativeToken[]
        const generateNext = { logits: true, options: { temperature: 1, topK: 0, topP: 1, minP: 0 } } as const
        const rows = await sequence.controlledEvaluate([...ids.slice(0, -1), [ids.at(-1)!, { generateNext }]])
        const logits = [...rows.at(-1)!.next.logits!]
        const draw = { seed, position: logprobs.length }
        const scaled = logits.map(([token, logit]) => [token, logit / (temperature || 1)] as const)
        const token = temperature === 0 ? logits[0]![0] : selectAmong(table.noise(draw), scaled)
        next = [token]
        const top = scaled[0]![1]
        const total = scaled.reduce((sum, [, logit]) => sum + Math.exp(logit - top), 0)
        const own = scaled.find(([other]) => other === token)![1]
        logprobs.push(Math.min(0, own - top - Math.log(total)))
        return token
      },
      logprobs: async () => logprobs,
    }
  }
  const natives = new Map<LockstepSequence, LlamaContextSequence>()
  const lockstep = createLockstep(
    sequences.map((sequence) => {
      const own: LockstepSequence = {
        clear: () => sequence.clearHistory(),
        prefill: (tokens) => sequence.evaluateWithoutGeneratingNewTokens([...tokens] as NativeToken[]),
        keepPrefix: () => sequence.clearHistory().then(() => 0),
        copyFrom: (other, tokens) => copySequence(natives.get(other)!, sequence, tokens),
        begin: (feed, seed) => begin(sequence, feed, seed),
      }
      natives.set(own, sequence)
      return own
    }),
    { slotWaitMs: 250, passTokens: BATCH_TOKENS, isEndOfGeneration: (token) => model.isEogToken(token as NativeToken) },
  )
  return {
    async openSlots(requests) {
      const waiting = new Map<number, PromiseWithResolvers<SampledTurn>>()
      const open = lockstep.open(requests, {
        onTurn: (slot, turn) => waiting.get(slot)!.resolve(turn),
        onFailed: (slot, error) => waiting.get(slot)?.reject(error),
      })
      return requests.map((_, slot): TokenSource => {
        return {
          next(feed, maxTokens) {
            const turn = Promise.withResolvers<SampledTurn>()
            waiting.set(slot, turn)
            open.next(slot, feed, maxTokens)
            return turn.promise
          },
          async close() {
            open.leave(slot)
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
