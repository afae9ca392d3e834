import '../swarm/polyfill.js'
import { getLlama, LlamaLogLevel, type Token as NativeToken } from 'node-llama-cpp'
import type { AuditedGroup, AuditedRollout } from '../coordinator/audit/sampled-turns.js'
import { rolesOf, turnsOf } from '../coordinator/audit/sampled-turns.js'
import type { LlamaTurn } from '../engine/llama.js'
import { createLockstep } from '../engine/lockstep.js'
import type { Engine, SampledTurn, Token, TokenSource } from '../engine/types.js'
import {
  type EpisodeLimits,
  type Rollout,
  runEpisode,
  runGroup,
  type Stage,
  type Task,
  turnSeeds,
} from '../episode/index.js'

/** A node's engine that samples with settings of its own; everything else is as in the honest one. */
export interface CheatEngine {
  readonly openLanes: Engine['openLanes']
  close(): Promise<void>
}

/** @param temperature  0 decodes greedily */
export async function openCheatEngine(
  modelPath: string,
  lanes: number,
  contextSize: number,
  temperature: number,
): Promise<CheatEngine> {
  const llama = await getLlama({ gpu: false, build: 'never', logLevel: LlamaLogLevel.error, maxThreads: 1 })
  const model = await llama.loadModel({ modelPath })
  const context = await model.createContext({
    contextSize,
    sequences: lanes,
    batchSize: 512,
    threads: 1,
    flashAttention: false,
  })
  const sequences = Array.from({ length: lanes }, () => context.getSequence())
  const begin = (lane: number, feed: readonly Token[], seed: number): LlamaTurn => {
    const settings = { temperature, topK: 0, topP: 1, minP: 0, seed, yieldEogToken: true }
    const steps = sequences[lane]!.evaluateWithMetadata([...feed] as NativeToken[], { confidence: true }, settings)
    return {
      async next() {
        const { value } = await steps.next()
        if (!value) throw new Error('no token')
        return { token: value.token, logprob: Math.min(0, Math.log(value.confidence)) }
      },
      async stop() {
        await steps.return()
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
        requests.map(({ prompt, seeds }, lane) => ({
          sequence: { begin: (feed, seed) => begin(lane, feed, seed) },
          last: prompt.at(-1)!,
          seeds,
        })),
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

export interface CheatSetting {
  readonly stage: Stage
  readonly limits: EpisodeLimits
  readonly engine: Engine
  readonly signal: AbortSignal
}

/** Of four groups with seeds of which only one is the lease's, the best of each rollout. */
export async function cherryPick(
  task: Task,
  honest: AuditedGroup,
  { stage, limits, engine, signal }: CheatSetting,
): Promise<AuditedRollout[]> {
  const tries: (readonly Rollout[])[] = [honest.rollouts as readonly Rollout[]]
  for (const salt of [1, 2, 3]) {
    const seed = Uint8Array.from(honest.leaseSeed, (byte) => byte ^ salt)
    tries.push(await runGroup(task, honest.rollouts.length, seed, engine, stage, limits, signal))
  }
  return honest.rollouts.map((_, i) => {
    const candidates = tries.map((rollouts) => rollouts[i]!)
    return candidates.reduce((best, other) => (other.reward.total > best.reward.total ? other : best))
  })
}

const PLAIN = /^[A-Za-z0-9]+$/

/**
 * Replaces one token of a tool call's arguments by another word or digit and goes on from there with the lease's seeds, as
 * a node would that corrects its model. The rollout is whole: it replays.
 * @returns the rollout and which of its sampled tokens was replaced, or null when it has no argument to edit
 */
export async function editArgument(
  task: Task,
  group: AuditedGroup,
  index: number,
  { stage, limits, engine, signal }: CheatSetting,
): Promise<{ readonly rollout: Rollout; readonly place: number } | null> {
  const rollout = group.rollouts[index]!
  const { tokenizer } = stage
  const roles = rolesOf(rollout, tokenizer)
  const sampled = [...rollout.mask.keys()].filter((at) => rollout.mask[at] === 1)
  const editable = sampled.filter(
    (at, k) => roles[k]!.argument && PLAIN.test(tokenizer.detokenize([rollout.tokens[at]!])),
  )
  const at = editable[Math.floor(editable.length / 2)]
  const words = editable.map((place) => rollout.tokens[place]!)
  const other = words.find((token) => at !== undefined && token !== rollout.tokens[at])
  if (at === undefined || other === undefined) return null
  const tokens = rollout.tokens.with(at, other)
  const seeds = turnSeeds(group.leaseSeed, index, limits)
  const isEnd = (token: Token): boolean => tokenizer.isEndOfGeneration(token)
  const source = continuedSource({ ...rollout, tokens }, at, seeds, isEnd, engine, signal)
  const edited = await runEpisode(task, source, stage, limits, signal)
  return { rollout: edited, place: sampled.indexOf(at) }
}

/** Plays a recording up to and with the turn that holds token `at`; then a live lane goes on. */
function continuedSource(
  { tokens, mask, logprobs }: AuditedRollout,
  at: number,
  seeds: readonly number[],
  isEnd: (token: Token) => boolean,
  engine: Engine,
  signal: AbortSignal,
): TokenSource {
  const turns = turnsOf(mask)
  const last = turns.findIndex(([, end]) => at < end)
  let turn = 0
  let before = 0
  let live: TokenSource | null = null
  return {
    async next(feed, maxTokens) {
      const [start, end] = turns[turn] ?? [0, 0]
      if (turn <= last) {
        turn++
        const own = logprobs.slice(before, before + end - start)
        before += end - start
        return { tokens: tokens.slice(start, end), logprobs: own, stop: isEnd(tokens[end - 1]!) ? 'end' : 'length' }
      }
      if (live === null) {
        const prompt = tokens.slice(0, turns[last]![1])
        live = (await engine.openLanes([{ prompt, seeds: seeds.slice(last + 1) }], signal))[0]!
      }
      return live.next(feed, maxTokens, signal)
    },
    async close() {
      await live?.close()
    },
  }
}
