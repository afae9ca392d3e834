import { EngineError, toEngineError } from './errors.js'
import type { LlamaSequence, LlamaTurn } from './llama.js'
import type { SampledTurn, Token } from './types.js'

/** A rollout's sequence, its prompt already in the cache but for the last token. */
export interface LockstepLane {
  readonly sequence: Pick<LlamaSequence, 'begin'>
  /** The prompt's last token: fed with the first turn, because sampling needs its logits. */
  readonly last: Token
  /** Sampler seed of each turn. */
  readonly seeds: readonly number[]
}

/** What a lockstep measures its waits by. */
export interface Timekeeper {
  /** Milliseconds on a clock that never goes back. */
  readonly nowMs: number
  /** Calls back once, `ms` from now. @returns  cancels */
  after(ms: number, action: () => void): () => void
}

const systemTime: Timekeeper = {
  get nowMs() {
    return performance.now()
  },
  after(ms, action) {
    const timer = setTimeout(action, ms)
    return () => clearTimeout(timer)
  },
}

export interface LockstepOptions {
  /** How long a pass waits for a lane between two turns before it goes on without it. */
  readonly laneWaitMs: number
  /** Default: the system's. */
  readonly time?: Timekeeper
  isEndOfGeneration(token: Token): boolean
  onTurn(lane: number, turn: SampledTurn): void
  /** The lane is over: it asked for a turn without a seed, or llama.cpp failed. */
  onFailed(lane: number, error: EngineError): void
}

export interface Lockstep {
  /** Begins a lane's turn with the environment's tokens since the last one. */
  next(lane: number, feed: readonly Token[], maxTokens: number): void
  /** Takes a lane out of the group; a turn in progress stops after the current decode. Idempotent. */
  leave(lane: number): void
  /** Resolves when every lane has left or failed. */
  readonly over: Promise<void>
}

interface Lane {
  readonly index: number
  readonly setup: LockstepLane
  last: Token
  turns: number
  state: 'idle' | 'sampling' | 'over'
  leaving: boolean
  /** Kept a pass waiting for too long: passes go on without it until its next feed comes. */
  late: boolean
  current: { readonly steps: LlamaTurn; readonly maxTokens: number; tokens: Token[]; logprobs: number[] } | null
}

/**
 * Generates a group in lockstep: each pass takes one step of every sampling lane at once, so that each decode is one full
 * batch. Free-running generators fall out of step and lose about a third of the speed.
 *
 * A pass waits for lanes which are between two turns, so that the composition of every batch, and with it every bit of
 * the result, does not depend on timing; only a lane later than `laneWaitMs` is left behind.
 */
export function createLockstep(setups: readonly LockstepLane[], options: LockstepOptions): Lockstep {
  const { time = systemTime } = options
  const lanes = setups.map((setup, index): Lane => {
    return { index, setup, last: setup.last, turns: 0, state: 'idle', leaving: false, late: false, current: null }
  })
  /** Set by whatever may change what `gather` waits for, also while it is busy dismissing lanes. */
  let changed = false
  let resume = () => {}
  const wake = () => {
    changed = true
    resume()
  }

  const fail = (lane: Lane, error: EngineError) => {
    lane.state = 'over'
    options.onFailed(lane.index, error)
  }

  /** One decode of one lane; ends its turn when it is complete. */
  const step = async (lane: Lane, turn: NonNullable<Lane['current']>): Promise<void> => {
    const { token, logprob } = await turn.steps.next()
    turn.tokens.push(token)
    turn.logprobs.push(logprob)
    const ended = options.isEndOfGeneration(token)
    if (!ended && turn.tokens.length < turn.maxTokens) return
    await turn.steps.stop()
    lane.current = null
    lane.last = token
    lane.state = 'idle'
    if (lane.leaving) return
    options.onTurn(lane.index, { tokens: turn.tokens, logprobs: turn.logprobs, stop: ended ? 'end' : 'length' })
  }

  const stepOrFail = async (lane: Lane): Promise<void> => {
    if (lane.current === null) return
    const { steps } = lane.current
    try {
      await step(lane, lane.current)
    } catch (cause) {
      lane.current = null
      await steps.stop().catch(() => {}) // the first error is the one to report
      fail(lane, toEngineError(cause))
    }
  }

  const dismissLeavers = async (): Promise<void> => {
    for (const lane of lanes) {
      if (!lane.leaving || lane.state === 'over') continue
      await lane.current?.steps.stop().catch(() => {}) // nobody waits for this turn any more
      lane.current = null
      lane.state = 'over'
    }
  }

  /** Waits until a pass can start; returns its lanes, none when the group is over. */
  const gather = async (): Promise<Lane[]> => {
    let deadline: number | null = null
    for (;;) {
      changed = false
      await dismissLeavers()
      const sampling = lanes.filter(({ state }) => state === 'sampling')
      const awaited = lanes.filter(({ state, late }) => state === 'idle' && !late)
      if (lanes.every(({ state }) => state === 'over')) return []
      if (sampling.length > 0 && awaited.length === 0) return sampling
      // Nobody is held up while nothing samples, so the clock starts with the first lane that could go on.
      if (sampling.length > 0) deadline ??= time.nowMs + options.laneWaitMs
      if (deadline !== null && time.nowMs >= deadline) for (const lane of awaited) lane.late = true
      else await change(deadline)
    }
  }

  const change = async (deadline: number | null): Promise<void> => {
    if (changed) return
    let cancel = () => {}
    await new Promise<void>((resolve) => {
      resume = resolve
      if (deadline !== null) cancel = time.after(Math.max(1, deadline - time.nowMs), resolve)
    })
    cancel()
  }

  const run = async (): Promise<void> => {
    for (let pass = await gather(); pass.length > 0; pass = await gather()) await Promise.all(pass.map(stepOrFail))
  }

  return {
    next: (index, feed, maxTokens) => {
      const lane = lanes[index]
      if (lane === undefined || lane.state === 'over' || lane.leaving) return
      const seed = lane.setup.seeds[lane.turns]
      if (lane.state === 'sampling') {
        lane.leaving = true
        options.onFailed(index, new EngineError('bad_request', `lane ${index} is still sampling`))
      } else if (seed === undefined) {
        fail(lane, new EngineError('bad_request', `lane ${index}: no seed for turn ${lane.turns}`))
      } else {
        const steps = lane.setup.sequence.begin([lane.last, ...feed], seed)
        lane.current = { steps, maxTokens, tokens: [], logprobs: [] }
        lane.turns++
        lane.state = 'sampling'
        lane.late = false
      }
      wake()
    },
    leave: (index) => {
      const lane = lanes[index]
      if (lane !== undefined) lane.leaving = true
      wake()
    },
    over: run(),
  }
}
