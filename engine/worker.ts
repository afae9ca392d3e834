import { rmSync } from 'node:fs'
import { STOP_TIMEOUT_MS } from './constants.js'
import { EngineError, toEngineError } from './errors.js'
import { type LlamaPolicy, openPolicy } from './llama.js'
import { createLockstep, type Lockstep } from './lockstep.js'
import { prefillLanes, refillLane } from './prefill.js'
import type { Answer, FromWorker, LaneOpening, ToWorker } from './protocol.js'
import { scoreTokens } from './score.js'
import type { Token } from './types.js'

/**
 * The engine's process: llama.cpp away from the program that uses it, because an out-of-memory kill or a native crash must
 * take neither the network host nor the ledger along. Started by `client.ts`; ends when its parent goes.
 */
let policy: LlamaPolicy | null = null
let laneWaitMs = 0
let sharePrefill = true
let scratch: string | null = null
let group: { readonly number: number; readonly lockstep: Lockstep; readonly lanes: number } | null = null
const running = new Map<number, { readonly cancelled: AbortController; readonly ended: Promise<void> }>()

process.on('message', (message) => receive(message as ToWorker))
process.on('disconnect', () => void leaveWithParent())

function send(message: FromWorker): void {
  if (process.connected) process.send?.(message)
}

function receive(message: ToWorker): void {
  switch (message.kind) {
    case 'cancel':
      running.get(message.id)?.cancelled.abort()
      return
    case 'next':
      takeTurn(message)
      return
    case 'leave':
      if (group?.number === message.group) group.lockstep.leave(message.lane)
      return
    default:
      begin(message)
  }
}

type Request = Exclude<ToWorker, { readonly kind: 'cancel' | 'next' | 'leave' }>

function begin(request: Request): void {
  const cancelled = new AbortController()
  const ended = answer(request, cancelled.signal).finally(() => running.delete(request.id))
  running.set(request.id, { cancelled, ended })
}

async function answer(request: Request, signal: AbortSignal): Promise<void> {
  try {
    send(await serve(request, signal))
  } catch (cause) {
    const { code, detail } = toEngineError(cause)
    send({ kind: 'failed', id: request.id, code, detail })
  }
}

async function serve(request: Request, signal: AbortSignal): Promise<Answer> {
  const { id } = request
  switch (request.kind) {
    case 'start':
      ;({ laneWaitMs, sharePrefill, scratch } = request)
      policy = await openPolicy(request.options, request.adapter)
      return { kind: 'started', id, version: policy.version, placement: policy.placement }
    case 'swap':
      await opened().swap(request.adapter)
      return { kind: 'done', id }
    case 'open':
      await openGroup(request.group, request.lanes, signal)
      return { kind: 'done', id }
    case 'score': {
      const [sequence] = opened().sequences
      const evidence = await scoreTokens(sequence!, known(request.tokens), request.from, request.draws, signal)
      return { kind: 'scored', id, evidence }
    }
  }
}

async function openGroup(number: number, openings: readonly LaneOpening[], signal: AbortSignal): Promise<void> {
  const { sequences, isEndOfGeneration } = opened()
  const prompts = openings.map(({ prompt }) => known(prompt))
  const used = sequences.slice(0, openings.length)
  await prefillLanes(used, prompts.slice(0, used.length), sharePrefill, signal)
  signal.throwIfAborted()
  const lockstep = createLockstep(
    openings.map(({ prompt: _, ...opening }, lane) => ({ ...opening, last: prompts[lane]!.at(-1)! })),
    used,
    {
      laneWaitMs,
      move: (from, to) => to.copyFrom(from),
      enter: (lane, sequence) => refillLane(sequence, prompts[lane]!),
      isEndOfGeneration,
      onTurn: (lane, { tokens, logprobs, stop }) => {
        const arrays = { tokens: Int32Array.from(tokens), logprobs: Float64Array.from(logprobs) }
        send({ kind: 'turn', group: number, lane, ...arrays, stop })
      },
      onFailed: (lane, { code, detail }) => send({ kind: 'lane-failed', group: number, lane, code, detail }),
    },
  )
  group = { number, lockstep, lanes: openings.length }
  void lockstep.over.then(() => {
    group = null
    send({ kind: 'group-over', group: number })
  })
}

function takeTurn({ group: number, lane, feed, maxTokens }: Extract<ToWorker, { readonly kind: 'next' }>): void {
  if (group?.number !== number) return
  try {
    group.lockstep.next(lane, known(feed), maxTokens)
  } catch (cause) {
    const { code, detail } = toEngineError(cause)
    group.lockstep.leave(lane)
    send({ kind: 'lane-failed', group: number, lane, code, detail })
  }
}

function opened(): LlamaPolicy {
  if (policy === null) throw new EngineError('bad_request', 'the engine has not been started')
  return policy
}

/** Ids outside the vocabulary would index past llama.cpp's embedding table. */
function known(ids: Int32Array): Token[] {
  const { vocabularySize } = opened()
  const stranger = ids.find((id) => id < 0 || id >= vocabularySize)
  if (stranger !== undefined) {
    throw new EngineError('bad_request', `token ${stranger} is outside the vocabulary of ${vocabularySize}`)
  }
  return Array.from(ids)
}

/** Ends the process once the decode in progress is over: leaving in the middle of one would crash in native code. */
async function leaveWithParent(): Promise<void> {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), STOP_TIMEOUT_MS).unref()
  const requests = [...running.values()]
  for (const { cancelled } of requests) cancelled.abort()
  await Promise.all(requests.map(({ ended }) => ended))
  if (group !== null) {
    for (let lane = 0; lane < group.lanes; lane++) group.lockstep.leave(lane)
    await group.lockstep.over
  }
  try {
    if (scratch !== null) rmSync(scratch, { recursive: true, force: true })
  } catch {
    // A folder that was bound into this process's own root cannot go from within: what started the process removes it.
  }
  process.exit(0)
}
