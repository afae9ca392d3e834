import { rmSync } from 'node:fs'
import { BATCH_TOKENS, STOP_TIMEOUT_MS } from './constants.js'
import { EngineError, toEngineError } from './errors.js'
import { type LlamaPolicy, openPolicy } from './llama.js'
import { createLockstep, type Lockstep, type OpenSlots } from './lockstep.js'
import type { Answer, FromWorker, SlotOpening, ToWorker } from './protocol.js'
import { createScorer, type Scorer } from './score.js'
import type { Token } from './types.js'

/**
 * The engine's process. It isolates llama.cpp: an out-of-memory kill or a native crash must end neither the network host nor the
 * ledger. `child.ts` starts the process, which ends with its parent.
 */
let policy: LlamaPolicy | null = null
/** Lockstep and scorer use the sequences of the policy in turns; the scorer uses the first one. */
let lockstep: Lockstep | null = null
let scorer: Scorer | null = null
let tuning = { slotWaitMs: 0, sharePrompts: true, keepCaches: false }
let scratch: string | null = null
const groups = new Map<number, { readonly open: OpenSlots; readonly slots: number }>()
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
      groups.get(message.group)?.open.leave(message.slot)
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
    case 'start': {
      const { slotWaitMs, sharePrefill: sharePrompts, keepCaches } = request
      tuning = { slotWaitMs, sharePrompts, keepCaches }
      scratch = request.scratch
      policy = await openPolicy(request.options, request.adapter, request.inOrder, request.without)
      useSequences()
      return { kind: 'started', id, version: policy.version, placement: policy.placement }
    }
    case 'swap':
      // The sequences are new afterwards, also after a refusal.
      await opened().swap(request.adapter).finally(useSequences)
      return { kind: 'done', id }
    case 'open':
      openGroup(request.group, request.slots)
      return { kind: 'done', id }
    case 'score': {
      opened()
      const scores = await scorer!.score(known(request.tokens), request.from, request.draws, signal)
      return { kind: 'scored', id, scores }
    }
  }
}

function useSequences(): void {
  const { sequences, isEndOfGeneration } = opened()
  lockstep = createLockstep(sequences, { ...tuning, passTokens: BATCH_TOKENS, isEndOfGeneration })
  scorer = createScorer(sequences[0]!)
}

function openGroup(number: number, openings: readonly SlotOpening[]): void {
  opened()
  scorer!.forget()
  const slots = openings.map(({ prompt, ...opening }) => ({ ...opening, prompt: known(prompt) }))
  const open = lockstep!.open(slots, {
    onTurn: (slot, { tokens, logprobs, stop }) => {
      const arrays = { tokens: Int32Array.from(tokens), logprobs: Float64Array.from(logprobs) }
      send({ kind: 'turn', group: number, slot, ...arrays, stop })
    },
    onFailed: (slot, { code, detail }) => send({ kind: 'slot-failed', group: number, slot, code, detail }),
  })
  groups.set(number, { open, slots: openings.length })
  void open.over.then(() => {
    groups.delete(number)
    send({ kind: 'group-over', group: number })
  })
}

function takeTurn({ group: number, slot, feed, maxTokens }: Extract<ToWorker, { readonly kind: 'next' }>): void {
  const group = groups.get(number)
  if (group === undefined) return
  try {
    group.open.next(slot, known(feed), maxTokens)
  } catch (cause) {
    const { code, detail } = toEngineError(cause)
    group.open.leave(slot)
    send({ kind: 'slot-failed', group: number, slot, code, detail })
  }
}

function opened(): LlamaPolicy {
  if (policy === null) throw new EngineError('bad_request', 'the engine has not been started')
  return policy
}

/** Checks token ids: ids outside the vocabulary would index past llama.cpp's embedding table. */
function known(ids: Int32Array): Token[] {
  const { vocabularySize } = opened()
  const unknown = ids.find((id) => id < 0 || id >= vocabularySize)
  if (unknown !== undefined) {
    throw new EngineError('bad_request', `token ${unknown} is outside the vocabulary of ${vocabularySize} tokens`)
  }
  return Array.from(ids)
}

/** Ends the process after the decode in progress: exiting during a decode would crash in native code. */
async function leaveWithParent(): Promise<void> {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), STOP_TIMEOUT_MS).unref()
  const requests = [...running.values()]
  for (const { cancelled } of requests) cancelled.abort()
  await Promise.all(requests.map(({ ended }) => ended))
  for (const { open, slots } of groups.values()) {
    for (let slot = 0; slot < slots; slot++) open.leave(slot)
    await open.over
  }
  try {
    if (scratch !== null) rmSync(scratch, { recursive: true, force: true })
  } catch {
    // A folder that is bound into this process's root cannot be removed from within: the parent removes it.
  }
  process.exit(0)
}
