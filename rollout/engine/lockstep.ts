import { EngineError, toEngineError } from './errors.js'
import type { LlamaSequence, LlamaTurn } from './sequence.js'
import type { SampledTurn, Token } from './types.js'

/** A rollout to generate. */
export interface LockstepSlot {
  /** At least one token. */
  readonly prompt: readonly Token[]
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

export interface LockstepOptions {
  /** How long a pass waits for a lane between two turns before it goes on without it. */
  readonly slotWaitMs: number
  /** Tokens that one pass feeds at most, which is what llama.cpp decodes at once; more than there are sequences. */
  readonly passTokens: number
  /** Whether lanes of a group with equal prompts share one computation of it. Default: they do. */
  readonly sharePrompts?: boolean
  /** Whether rollouts that are opened while there are no others may go on in what earlier ones left. Default: they may not. */
  readonly keepCaches?: boolean
  /** Default: the system's. */
  readonly time?: Timekeeper
  isEndOfGeneration(token: Token): boolean
}

export interface SlotEvents {
  onTurn(slot: number, turn: SampledTurn): void
  /** The lane is over: it asked for a turn without a seed, or llama.cpp failed. */
  onFailed(slot: number, error: EngineError): void
}

/** Rollouts that were opened together. */
export interface OpenSlots {
  /** Begins a lane's turn with the environment's tokens since the last one. */
  next(slot: number, feed: readonly Token[], maxTokens: number): void
  /** Takes a lane out; a turn in progress stops after the current decode. Idempotent. */
  leave(slot: number): void
  /** Resolves when every lane has left or failed. */
  readonly over: Promise<void>
}

export interface Lockstep {
  /** Takes in more rollouts, whatever others are under way. Those without a free sequence wait, in the order of coming. */
  open(slots: readonly LockstepSlot[], events: SlotEvents): OpenSlots
}

export interface LockstepSequence extends Pick<LlamaSequence, 'clear' | 'prefill' | 'keepPrefix' | 'begin'> {
  copyFrom(other: LockstepSequence, tokens?: number): Promise<void>
}

interface Slot {
  readonly index: number
  readonly events: SlotEvents
  readonly onOver: () => void
  /** All but the last token, which is fed with the first turn, because sampling needs its logits. Equal prompts are one array. */
  readonly prompt: readonly Token[]
  readonly seeds: readonly number[]
  readonly temperature: number
  /** Which of the sequences holds its cache; null: it waits for one. */
  place: number | null
  /** Of the prompt: not in the cache yet. */
  missing: readonly Token[]
  /** The lane that computes the same prompt, from which it is copied when it is complete. */
  copies: Slot | null
  last: Token
  turns: number
  state: 'idle' | 'sampling' | 'over'
  leaving: boolean
  /** Kept a pass waiting for too long: passes go on without it until its next feed comes. */
  late: boolean
  current: Turn | null
}

interface Turn {
  /** Not fed yet. */
  feed: readonly Token[]
  readonly seed: number
  readonly maxTokens: number
  /** Whether the lane has taken the place that it goes on in. */
  settled: boolean
  /** null until all is fed. */
  steps: LlamaTurn | null
  readonly tokens: Token[]
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
 * Generates rollouts in lockstep: each pass takes one step of every sampling lane at once, so that each decode is one full
 * batch. Free-running generators fall out of step and lose about a third of the speed.
 *
 * What a lane samples follows from its prompt, its seeds and what it is fed; the lanes beside it change no more than the last
 * bits of its log-probabilities.
 *
 * A pass waits for lanes which are between two turns, so that the composition of every batch, and with it every bit of
 * the result, does not depend on timing as long as nothing is opened meanwhile; only a lane later than `laneWaitMs` is left
 * behind. Rollouts that are opened while there are no others find empty caches, unless these are to be kept.
 *
 * Prompts and the environment's tokens are fed in pieces beside the steps of the others, `passTokens` to a pass, so that a
 * long one holds nobody up for more than one decode.
 *
 * A lane that begins a turn closes the gap of one that is over: it goes on in another sequence, see `placeWithoutGap`.
 */
export function createLockstep(sequences: readonly LockstepSequence[], options: LockstepOptions): Lockstep {
  const { time = systemTime, sharePrompts = true, keepCaches = false, passTokens } = options
  /** Those that are not over, in the order of coming. */
  let slots: readonly Slot[] = []
  let running = false
  /** Set by whatever may change what `gather` waits for, also while it is busy with lanes. */
  let changed = false
  let resume = () => {}
  const wake = () => {
    changed = true
    resume()
  }

  const end = (slot: Slot): void => {
    if (slot.state === 'over') return
    slot.state = 'over'
    slot.current = null
    slots = slots.filter((other) => other !== slot)
    slot.onOver()
  }

  const fail = (slot: Slot, cause: unknown): void => {
    if (slot.state === 'over') return
    end(slot)
    slot.events.onFailed(slot.index, toEngineError(cause))
  }

  /** Work on one lane whose failure ends that lane alone. */
  const orFail = async (slot: Slot, work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (cause) {
      fail(slot, cause)
    }
  }

  const sequenceOf = ({ place }: Slot): LockstepSequence => sequences[place!]!

  /** Places of the living lanes but for one. */
  const takenBeside = (slot: Slot): number[] =>
    slots.flatMap((other) => (other === slot || other.place === null ? [] : [other.place]))

  /** Goes on in the place that leaves no gap. */
  const closeGap = async (slot: Slot): Promise<void> => {
    const from = sequenceOf(slot)
    const better = placeWithoutGap(slot.place!, takenBeside(slot), sequences.length)
    if (better === slot.place) return
    await sequences[better]!.copyFrom(from)
    slot.place = better
  }

  /** Finds out what of its prompt a lane that has a place lacks, and where that comes from. */
  const prepare = async (slot: Slot): Promise<void> => {
    const { prompt } = slot
    const kept = await sequenceOf(slot).keepPrefix(prompt)
    const holds = (other: Slot): boolean =>
      other !== slot && other.prompt === prompt && other.place !== null && other.copies === null
    slot.copies = kept < prompt.length ? (slots.find(holds) ?? null) : null
    slot.missing = slot.copies === null ? prompt.slice(kept) : []
  }

  /** Gives free places to lanes that wait. @returns  whether one has come in */
  const admit = async (): Promise<boolean> => {
    let admitted = false
    for (const slot of slots.filter(({ place }) => place === null)) {
      const taken = takenBeside(slot)
      const free = sequences.findIndex((_, place) => !taken.includes(place))
      if (free === -1) break
      slot.place = placeWithoutGap(free, taken, sequences.length)
      admitted = true
      await orFail(slot, () => prepare(slot))
    }
    return admitted
  }

  /** Hands on the prompts that are complete. @returns  whether there was one to hand on */
  const copyPrompts = async (): Promise<boolean> => {
    let copied = false
    for (const slot of slots) {
      const from = slot.copies
      if (from === null || (from.state !== 'over' && from.missing.length > 0)) continue
      copied = true
      await orFail(slot, async () => {
        if (from.state === 'over') return await prepare(slot)
        await sequenceOf(slot).copyFrom(sequenceOf(from), slot.prompt.length)
        slot.copies = null
      })
    }
    return copied
  }

  const dismissLeavers = (): void => {
    for (const slot of slots) if (slot.leaving) end(slot)
  }

  /** Waits until a pass can start; returns the lanes that have something to do, none when all are over. */
  const gather = async (): Promise<Slot[]> => {
    let deadline: number | null = null
    for (;;) {
      changed = false
      dismissLeavers()
      if (slots.length === 0) {
        running = false
        return []
      }
      const placed = slots.filter(({ place }) => place !== null)
      const [ready, unready] = [placed.filter(isReady), placed.filter((slot) => !isReady(slot))]
      const busy = [...unready, ...ready.filter(({ state }) => state === 'sampling')]
      const awaited = ready.filter(({ state, late }) => state === 'idle' && !late)
      // Not before all of this pass are known: who comes in where must not depend on whose word came first.
      if (awaited.length === 0 && ((await admit()) || (await copyPrompts()))) continue
      if (busy.length > 0 && awaited.length === 0) return busy
      // Nobody is held up while nothing is done, so the clock runs only while there is a lane that could go on. Past a deadline for
      // which nobody waits this loop would make lanes late and turn without letting their word through.
      deadline = busy.length > 0 ? (deadline ?? time.nowMs + options.slotWaitMs) : null
      if (deadline !== null && time.nowMs >= deadline) for (const slot of awaited) slot.late = true
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

  /** What each lane does in a pass, beginning with the lanes that came first. */
  const share = (pass: readonly Slot[]): Map<Slot, () => Promise<void>> => {
    const works = new Map<Slot, () => Promise<void>>()
    for (const slot of pass) if (slot.current?.steps) works.set(slot, () => step(slot, slot.current!))
    let capacity = passTokens - works.size
    for (const slot of slots) {
      if (capacity === 0) break
      if (!pass.includes(slot) || works.has(slot) || slot.copies !== null) continue
      const { current } = slot
      const waiting = slot.missing.length > 0 ? slot.missing : current!.feed
      const piece = waiting.slice(0, capacity)
      const rest = waiting.slice(piece.length)
      capacity -= piece.length
      if (slot.missing.length === 0 && rest.length === 0) {
        works.set(slot, () => {
          current!.steps = sequenceOf(slot).begin(piece, current!.seed, slot.temperature)
          return step(slot, current!)
        })
        continue
      }
      works.set(slot, async () => {
        await sequenceOf(slot).prefill(piece)
        if (slot.missing.length > 0) slot.missing = rest
        else current!.feed = rest
      })
    }
    return works
  }

  /** One decode of one lane; ends its turn when it is complete. */
  const step = async (slot: Slot, turn: Turn): Promise<void> => {
    const token = await turn.steps!.next()
    turn.tokens.push(token)
    const ended = options.isEndOfGeneration(token)
    if (!ended && turn.tokens.length < turn.maxTokens) return
    const logprobs = await turn.steps!.logprobs()
    slot.current = null
    slot.last = token
    slot.state = 'idle'
    if (slot.leaving) return
    slot.events.onTurn(slot.index, { tokens: turn.tokens, logprobs, stop: ended ? 'end' : 'length' })
  }

  const run = async (): Promise<void> => {
    try {
      if (!keepCaches) for (const sequence of sequences) await sequence.clear()
    } catch (cause) {
      for (const slot of slots) fail(slot, cause)
    }
    for (let pass = await gather(); pass.length > 0; pass = await gather()) {
      // One after the other and in the order of the lanes, whatever order their feeds came in.
      for (const slot of pass) {
        const turn = slot.current
        if (!isReady(slot) || turn === null || turn.settled) continue
        turn.settled = true
        await orFail(slot, () => closeGap(slot))
      }
      // llama.cpp takes neighbours together only in their order.
      const works = [...share(pass.filter(({ state }) => state !== 'over'))].sort(([a], [b]) => a.place! - b.place!)
      await Promise.all(works.map(([slot, work]) => orFail(slot, work)))
    }
  }

  const begin = (slot: Slot | undefined, feed: readonly Token[], maxTokens: number): void => {
    if (slot === undefined || slot.state === 'over' || slot.leaving) return
    const { index, events, turns } = slot
    const seed = slot.seeds[turns]
    if (slot.state === 'sampling') {
      slot.leaving = true
      events.onFailed(index, new EngineError('bad_request', `lane ${index} is still sampling`))
    } else if (seed === undefined) {
      fail(slot, new EngineError('bad_request', `lane ${index}: no seed for turn ${turns}`))
    } else {
      slot.current = {
        ...{ feed: [slot.last, ...feed], seed, maxTokens, settled: false },
        ...{ steps: null, tokens: [] },
      }
      slot.turns++
      slot.state = 'sampling'
      slot.late = false
    }
    wake()
  }

  return {
    open: (setups, events) => {
      const prompts = new Map<string, readonly Token[]>()
      let living = setups.length
      let finish = () => {}
      const over = new Promise<void>((resolve) => {
        finish = resolve
      })
      const onOver = (): void => {
        living -= 1
        if (living === 0) finish()
      }
      const opened = setups.map(({ prompt, seeds, temperature = 1 }, index): Slot => {
        const key = sharePrompts ? prompt.join() : String(index)
        if (!prompts.has(key)) prompts.set(key, prompt.slice(0, -1))
        return {
          ...{ index, events, onOver, prompt: prompts.get(key)!, seeds, temperature, last: prompt.at(-1)! },
          ...{ place: null, missing: [], copies: null },
          ...{ turns: 0, state: 'idle', leaving: false, late: false, current: null },
        }
      })
      if (opened.length === 0) finish()
      slots = [...slots, ...opened]
      if (running || opened.length === 0) wake()
      else {
        running = true
        void run()
      }
      return {
        next: (index, feed, maxTokens) => begin(opened[index], feed, maxTokens),
        leave: (index) => {
          const slot = opened[index]
          if (slot !== undefined) slot.leaving = true
          wake()
        },
        over,
      }
    },
  }
}

/** Whether its cache holds its prompt. */
const isReady = ({ place, missing, copies }: Slot): boolean => place !== null && missing.length === 0 && copies === null
