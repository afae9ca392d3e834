import type { EngineChild, LaneMessage } from './child.js'
import { SETTLE_TIMEOUT_MS } from './constants.js'
import { EngineError } from './errors.js'
import { abortable } from './fair-lock.js'
import type { LaneRequest, SampledTurn, Token, TokenSource } from './types.js'

/** The parent's side of a group of lanes in lockstep. */
export interface LaneGroup {
  readonly sources: readonly TokenSource[]
  receive(message: LaneMessage): void
  /** The process is gone: every lane ends with this error. */
  fail(error: EngineError): void
  /** Resolves when the process has ended all lanes, so that the next call may use it. */
  readonly over: Promise<void>
}

interface Lane {
  readonly index: number
  /** Prompt and everything after it, in tokens. */
  length: number
  /** Why it ended: an EngineError, or the reason of the abort. */
  ended: unknown
  waiting: { resolve(turn: SampledTurn): void; reject(reason: unknown): void } | null
}

/**
 * @param contextSize  tokens a lane may hold in all
 * @param signal       of the whole group: when it aborts, every lane leaves
 * @param onEnd        hears once of each lane that is over
 */
export function createLaneGroup(
  child: EngineChild,
  group: number,
  requests: readonly LaneRequest[],
  contextSize: number,
  signal: AbortSignal,
  onEnd: (lane: number) => void,
): LaneGroup {
  const lanes = requests.map(
    ({ prompt }, index): Lane => ({ index, length: prompt.length, ended: null, waiting: null }),
  )
  let finish = () => {}
  const over = new Promise<void>((resolve) => {
    finish = resolve
  })

  const end = (lane: Lane, reason: unknown) => {
    lane.ended ??= reason
    onEnd(lane.index)
    lane.waiting?.reject(reason)
    lane.waiting = null
  }

  let watchdog: NodeJS.Timeout | undefined
  const leave = (lane: Lane, reason: unknown = new EngineError('closed', `lane ${lane.index} was closed`)) => {
    if (lane.ended !== null) return
    end(lane, reason)
    child.send({ kind: 'leave', group, lane: lane.index })
    // A process that does not come to rest after its last lane has left hangs in native code.
    if (lanes.every(({ ended }) => ended !== null)) watchdog = setTimeout(() => child.kill(), SETTLE_TIMEOUT_MS).unref()
  }
  const leaveAll = () => {
    for (const lane of lanes) leave(lane, signal.reason)
  }
  void over.then(() => {
    clearTimeout(watchdog)
    signal.removeEventListener('abort', leaveAll)
  })
  if (signal.aborted) leaveAll()
  else signal.addEventListener('abort', leaveAll, { once: true })

  const next = async (
    lane: Lane,
    feed: readonly Token[],
    maxTokens: number,
    turnSignal: AbortSignal,
  ): Promise<SampledTurn> => {
    signal.throwIfAborted()
    turnSignal.throwIfAborted()
    if (lane.ended !== null) throw lane.ended
    if (lane.waiting !== null) throw new EngineError('bad_request', `lane ${lane.index} is still sampling`)
    if (!Number.isSafeInteger(maxTokens) || maxTokens < 1) {
      throw new EngineError('bad_request', `a turn of at most ${maxTokens} tokens`)
    }
    if (lane.length + feed.length + maxTokens > contextSize) {
      const asked = `${lane.length} tokens, ${feed.length} fed and up to ${maxTokens} sampled`
      throw new EngineError('context_full', `${asked} exceed ${contextSize}`)
    }
    const turn = new Promise<SampledTurn>((resolve, reject) => {
      lane.waiting = { resolve, reject }
    })
    child.send({ kind: 'next', group, lane: lane.index, feed: Int32Array.from(feed), maxTokens })
    // Half a turn is no rollout, so an abort ends the lane.
    const sampled = await abortable(turn, AbortSignal.any([signal, turnSignal]), () => leave(lane))
    lane.length += feed.length + sampled.tokens.length
    return sampled
  }

  return {
    sources: lanes.map((lane) => ({
      next: (feed, maxTokens, turnSignal) => next(lane, feed, maxTokens, turnSignal),
      close: async () => leave(lane),
    })),
    receive: (message) => {
      if (message.group !== group) return
      if (message.kind === 'group-over') return finish()
      const lane = lanes[message.lane]
      if (lane === undefined) return
      if (message.kind === 'lane-failed') return end(lane, new EngineError(message.code, message.detail))
      const { tokens, logprobs, stop } = message
      lane.waiting?.resolve({ tokens: Array.from(tokens), logprobs: Array.from(logprobs), stop })
      lane.waiting = null
    },
    fail: (error) => {
      for (const lane of lanes) end(lane, error)
      finish()
    },
    over,
  }
}
