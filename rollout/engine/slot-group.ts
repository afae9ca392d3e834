import type { EngineChild, SlotMessage } from './child.js'
import { SETTLE_TIMEOUT_MS } from './constants.js'
import { EngineError } from './errors.js'
import { abortable } from './fair-lock.js'
import type { SampledTurn, SlotRequest, Token, TokenSource } from './types.js'

/** The parent's side of a group of slots in lockstep. */
export interface SlotGroup {
  readonly sources: readonly TokenSource[]
  receive(message: SlotMessage): void
  /** Ends every slot with this error, when the process has ended. */
  fail(error: EngineError): void
  /** Resolves when the process has ended all slots, so that the next call may use the process. */
  readonly over: Promise<void>
}

interface Slot {
  readonly index: number
  /** Tokens of the prompt and everything after it. */
  length: number
  /** The reason of its end: an EngineError, or the reason of the abort. */
  ended: unknown
  waiting: { resolve(turn: SampledTurn): void; reject(reason: unknown): void } | null
}

/**
 * @param contextSize  maximal tokens of a slot
 * @param signal       of the whole group: when it aborts, every slot leaves
 * @param onEnd        called once for each slot that ends
 */
export function createSlotGroup(
  child: EngineChild,
  group: number,
  requests: readonly SlotRequest[],
  contextSize: number,
  signal: AbortSignal,
  onEnd: (slot: number) => void,
): SlotGroup {
  const slots = requests.map(
    ({ prompt }, index): Slot => ({ index, length: prompt.length, ended: null, waiting: null }),
  )
  let finish = () => {}
  const over = new Promise<void>((resolve) => {
    finish = resolve
  })

  const end = (slot: Slot, reason: unknown) => {
    slot.ended ??= reason
    onEnd(slot.index)
    slot.waiting?.reject(reason)
    slot.waiting = null
  }

  let watchdog: NodeJS.Timeout | undefined
  const leave = (slot: Slot, reason: unknown = new EngineError('closed', `slot ${slot.index} was closed`)) => {
    if (slot.ended !== null) return
    end(slot, reason)
    child.send({ kind: 'leave', group, slot: slot.index })
    // A process that is not idle soon after its last slot has left hangs in native code.
    if (slots.every(({ ended }) => ended !== null)) watchdog = setTimeout(() => child.kill(), SETTLE_TIMEOUT_MS).unref()
  }
  const leaveAll = () => {
    for (const slot of slots) leave(slot, signal.reason)
  }
  void over.then(() => {
    clearTimeout(watchdog)
    signal.removeEventListener('abort', leaveAll)
  })
  if (signal.aborted) leaveAll()
  else signal.addEventListener('abort', leaveAll, { once: true })

  const next = async (
    slot: Slot,
    feed: readonly Token[],
    maxTokens: number,
    turnSignal: AbortSignal,
  ): Promise<SampledTurn> => {
    signal.throwIfAborted()
    turnSignal.throwIfAborted()
    if (slot.ended !== null) throw slot.ended
    if (slot.waiting !== null)
      throw new EngineError('bad_request', `slot ${slot.index} is still sampling its previous turn`)
    if (!Number.isSafeInteger(maxTokens) || maxTokens < 1) {
      throw new EngineError('bad_request', `the turn's limit of ${maxTokens} tokens must be a positive integer`)
    }
    if (slot.length + feed.length + maxTokens > contextSize) {
      const asked = `${slot.length} tokens, ${feed.length} fed and up to ${maxTokens} sampled`
      throw new EngineError('context_full', `${asked} exceed the context of ${contextSize} tokens`)
    }
    const turn = new Promise<SampledTurn>((resolve, reject) => {
      slot.waiting = { resolve, reject }
    })
    child.send({ kind: 'next', group, slot: slot.index, feed: Int32Array.from(feed), maxTokens })
    // A partial turn is useless, so an abort ends the slot.
    const sampled = await abortable(turn, AbortSignal.any([signal, turnSignal]), () => leave(slot))
    slot.length += feed.length + sampled.tokens.length
    return sampled
  }

  return {
    sources: slots.map((slot) => ({
      next: (feed, maxTokens, turnSignal) => next(slot, feed, maxTokens, turnSignal),
      close: async () => leave(slot),
    })),
    receive: (message) => {
      if (message.group !== group) return
      if (message.kind === 'group-over') return finish()
      const slot = slots[message.slot]
      if (slot === undefined) return
      if (message.kind === 'slot-failed') return end(slot, new EngineError(message.code, message.detail))
      const { tokens, logprobs, stop } = message
      slot.waiting?.resolve({ tokens: Array.from(tokens), logprobs: Array.from(logprobs), stop })
      slot.waiting = null
    },
    fail: (error) => {
      for (const slot of slots) end(slot, error)
      finish()
    },
    over,
  }
}
