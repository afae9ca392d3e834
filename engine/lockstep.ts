import { EngineError, toEngineError } from './errors.js'
import type { LlamaSequence, LlamaTurn } from './llama.js'
import type { SampledTurn, Token } from './types.js'

/** A rollout whose prompt is in a sequence's cache but for the last token, or will be when it gets one. */
export interface LockstepLane {
  /** The prompt's last token: fed with the first turn, because sampling needs its logits. */
  readonly last: Token
  /** Sampler seed of each turn. */
  readonly seeds: readonly number[]
  /** Default 1. */
  readonly temperature?: number
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

export interface LockstepOptions<Sequence> {
  /** How long a pass waits for a lane between two turns before it goes on without it. */
  readonly laneWaitMs: number
  /** Default: the system's. */
  readonly time?: Timekeeper
  /** Puts the cache of one sequence in place of another one's, which nobody needs any more. Default: lanes stay where they are. */
  move?(from: Sequence, to: Sequence): Promise<void>
  /** Puts a lane's prompt into a sequence that nobody needs any more. Needed where there are more lanes than sequences. */
  enter?(lane: number, sequence: Sequence): Promise<void>
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
  readonly seeds: readonly number[]
  readonly temperature: number
  /** Which of the sequences holds its cache; null: it waits for one. */
  place: number | null
  last: Token
  turns: number
  state: 'idle' | 'sampling' | 'over'
  leaving: boolean
  /** Kept a pass waiting for too long: passes go on without it until its next feed comes. */
  late: boolean
  current: Turn | null
}

interface Turn {
  readonly feed: readonly Token[]
  readonly seed: number
  readonly maxTokens: number
  /** null until its first pass. */
  steps: LlamaTurn | null
  readonly tokens: Token[]
  readonly logprobs: number[]
}

/** Sizes of the runs of neighbours that some places of a row make up; first that of the first place. */
function runsOf(places: readonly number[]): number[] {
  const taken = new Set(places)
  const runs: number[] = []
  for (const place of places) {
    if (!taken.delete(place)) continue
    let size = 1
    for (let up = place + 1; taken.delete(up); up++) size++
    for (let down = place - 1; taken.delete(down); down--) size++
    runs.push(size)
  }
  return runs
}

/**
 * Where a lane had better go on: llama.cpp decodes only neighbouring sequences together, so every gap that lanes leave which
 * are over costs a decode of its own in each pass (8 lanes in every other place: 2.5 ms of CPU per token instead of 0.9).
 * @param others  places of the other living lanes
 * @returns  the free place that leaves the fewest runs of neighbours, or else one in a larger run, so that in time runs of
 *           several lanes come together too; its own place if no other one is better
 */
export function placeWithoutGap(place: number, others: readonly number[], places: number): number {
  let best = place
  let [own, runs] = measure(place, others)
  for (let free = 0; free < places; free++) {
    if (others.includes(free)) continue
    const [size, count] = measure(free, others)
    if (count < runs || (count === runs && size > own)) [best, own, runs] = [free, size, count]
  }
  return best
}

/** @returns  the size of the run that the place is in then, and the number of runs */
function measure(place: number, others: readonly number[]): readonly [number, number] {
  const runs = runsOf([place, ...others])
  return [runs[0]!, runs.length]
}

/**
 * Generates a group in lockstep: each pass takes one step of every sampling lane at once, so that each decode is one full
 * batch. Free-running generators fall out of step and lose about a third of the speed.
 *
 * A pass waits for lanes which are between two turns, so that the composition of every batch, and with it every bit of
 * the result, does not depend on timing; only a lane later than `laneWaitMs` is left behind.
 *
 * A lane that begins a turn closes the gap of one that is over: it goes on in another sequence, see `placeWithoutGap`.
 *
 * Lanes beyond the sequences wait, in their order, and each takes the place of the next one that is over.
 * @param sequences  the first lanes' own, in their order
 */
export function createLockstep<Sequence extends Pick<LlamaSequence, 'begin'>>(
  setups: readonly LockstepLane[],
  sequences: readonly Sequence[],
  options: LockstepOptions<Sequence>,
): Lockstep {
  const { time = systemTime } = options
  const lanes = setups.map(({ last, seeds, temperature = 1 }, index): Lane => {
    const start = { turns: 0, state: 'idle', leaving: false, late: false, current: null } as const
    return { index, seeds, temperature, place: index < sequences.length ? index : null, last, ...start }
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

  /** Places of the living lanes but for one. */
  const takenBeside = (lane: Lane): number[] =>
    lanes.flatMap((other) => (other === lane || other.state === 'over' || other.place === null ? [] : [other.place]))

  /** @returns  the sequence it goes on in */
  const closeGap = async (lane: Lane, place: number): Promise<Sequence> => {
    const better = options.move ? placeWithoutGap(place, takenBeside(lane), sequences.length) : place
    if (better !== place) await options.move?.(sequences[place]!, sequences[better]!)
    lane.place = better
    return sequences[better]!
  }

  /** Gives free places to lanes that wait. @returns  whether one has come in */
  const admit = async (): Promise<boolean> => {
    let admitted = false
    for (const lane of lanes) {
      if (lane.place !== null || lane.state === 'over') continue
      const taken = takenBeside(lane)
      const free = sequences.findIndex((_, place) => !taken.includes(place))
      if (free === -1) break
      lane.place = placeWithoutGap(free, taken, sequences.length)
      admitted = true
      try {
        if (!options.enter) throw new EngineError('bad_request', `lane ${lane.index} has no sequence`)
        await options.enter(lane.index, sequences[lane.place]!)
      } catch (cause) {
        lane.current = null
        fail(lane, toEngineError(cause))
      }
    }
    return admitted
  }

  /** One after the other and in the order of the lanes, whatever order their feeds came in. */
  const beginTurns = async (pass: readonly Lane[]): Promise<void> => {
    for (const lane of pass) {
      const turn = lane.current
      if (turn === null || turn.steps !== null || lane.place === null) continue
      try {
        const sequence = await closeGap(lane, lane.place)
        turn.steps = sequence.begin([lane.last, ...turn.feed], turn.seed, lane.temperature)
      } catch (cause) {
        lane.current = null
        fail(lane, toEngineError(cause))
      }
    }
  }

  /** One decode of one lane; ends its turn when it is complete. */
  const step = async (lane: Lane, turn: Turn, steps: LlamaTurn): Promise<void> => {
    const { token, logprob } = await steps.next()
    turn.tokens.push(token)
    turn.logprobs.push(logprob)
    const ended = options.isEndOfGeneration(token)
    if (!ended && turn.tokens.length < turn.maxTokens) return
    lane.current = null
    lane.last = token
    lane.state = 'idle'
    if (lane.leaving) return
    options.onTurn(lane.index, { tokens: turn.tokens, logprobs: turn.logprobs, stop: ended ? 'end' : 'length' })
  }

  const stepOrFail = async (lane: Lane): Promise<void> => {
    const steps = lane.current?.steps
    if (!lane.current || !steps) return
    try {
      await step(lane, lane.current, steps)
    } catch (cause) {
      lane.current = null
      fail(lane, toEngineError(cause))
    }
  }

  const dismissLeavers = (): void => {
    for (const lane of lanes) {
      if (!lane.leaving || lane.state === 'over') continue
      lane.current = null
      lane.state = 'over'
    }
  }

  /** Waits until a pass can start; returns its lanes, none when the group is over. */
  const gather = async (): Promise<Lane[]> => {
    let deadline: number | null = null
    for (;;) {
      changed = false
      dismissLeavers()
      const placed = lanes.filter(({ place }) => place !== null)
      const sampling = placed.filter(({ state }) => state === 'sampling')
      const awaited = placed.filter(({ state, late }) => state === 'idle' && !late)
      if (lanes.every(({ state }) => state === 'over')) return []
      // Not before all of this pass are known: who comes in where must not depend on whose word came first.
      if (awaited.length === 0 && (await admit())) continue
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
    for (let pass = await gather(); pass.length > 0; pass = await gather()) {
      await beginTurns(pass)
      // llama.cpp takes neighbours together only in their order.
      await Promise.all(pass.toSorted((a, b) => a.place! - b.place!).map(stepOrFail))
    }
  }

  return {
    next: (index, feed, maxTokens) => {
      const lane = lanes[index]
      if (lane === undefined || lane.state === 'over' || lane.leaving) return
      const seed = lane.seeds[lane.turns]
      if (lane.state === 'sampling') {
        lane.leaving = true
        options.onFailed(index, new EngineError('bad_request', `lane ${index} is still sampling`))
      } else if (seed === undefined) {
        fail(lane, new EngineError('bad_request', `lane ${index}: no seed for turn ${lane.turns}`))
      } else {
        lane.current = { feed, seed, maxTokens, steps: null, tokens: [], logprobs: [] }
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
