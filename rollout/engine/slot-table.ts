import { type EngineError, toEngineError } from './errors.js'
import type { LlamaTurn } from './sequence.js'
import type { SampledTurn, Token } from './types.js'

/** A rollout to generate in lockstep with others. */
export interface LockstepSlot {
  /** At least one token. */
  readonly prompt: readonly Token[]
  /** Sampler seed of each turn. */
  readonly seeds: readonly number[]
  /** Default 1. */
  readonly temperature?: number
}

/** Callbacks of rollouts that were opened together; `slot` is the index of the rollout among them. */
export interface SlotEvents {
  onTurn(slot: number, turn: SampledTurn): void
  /** Reports that a slot has ended: a turn has no seed, or llama.cpp failed. */
  onFailed(slot: number, error: EngineError): void
}

/** The state of one rollout in lockstep. */
export interface Slot {
  readonly index: number
  readonly events: SlotEvents
  readonly onOver: () => void
  /** The prompt without its last token, which is fed with the first turn, because sampling needs its logits. Equal prompts are one array. */
  readonly prompt: readonly Token[]
  readonly seeds: readonly number[]
  readonly temperature: number
  /** Index of the sequence that caches this rollout; null: the slot waits for a sequence. */
  place: number | null
  /** The tokens of the prompt that are not in the cache yet. */
  missing: readonly Token[]
  /** The slot that computes the same prompt, from which this slot copies the complete cache; null: none. */
  copies: Slot | null
  last: Token
  turns: number
  state: 'idle' | 'sampling' | 'over'
  leaving: boolean
  /** Whether a pass has waited too long for this slot: passes run without it until its next feed arrives. */
  late: boolean
  current: Turn | null
}

/** A turn in progress. */
export interface Turn {
  /** Tokens that are not fed yet. */
  feed: readonly Token[]
  readonly seed: number
  readonly maxTokens: number
  /** Whether the slot has moved to its best place for this turn. */
  settled: boolean
  /** null until the whole feed is in the cache. */
  steps: LlamaTurn | null
  readonly tokens: Token[]
}

/** The slots of a lockstep that have not ended, in the order of opening. */
export interface SlotTable {
  readonly slots: readonly Slot[]
  /** Adds slots; `onOver` is called when the last of them has ended. */
  add(setups: readonly LockstepSlot[], events: SlotEvents, onOver: () => void): readonly Slot[]
  /** Ends a slot. Idempotent. */
  end(slot: Slot): void
  /** Ends a slot with an error, which `events.onFailed` reports. Idempotent. */
  fail(slot: Slot, cause: unknown): void
  /** Runs work on one slot. A failure ends that slot alone. */
  orFail(slot: Slot, work: () => Promise<void>): Promise<void>
}

/** @param sharePrompts  whether slots with equal prompts get one array as their prompt */
export function createSlotTable(sharePrompts: boolean): SlotTable {
  let slots: readonly Slot[] = []

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

  return {
    get slots() {
      return slots
    },
    add(setups, events, onAllOver) {
      const prompts = new Map<string, readonly Token[]>()
      let living = setups.length
      const onOver = (): void => {
        living -= 1
        if (living === 0) onAllOver()
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
      if (opened.length === 0) onAllOver()
      slots = [...slots, ...opened]
      return opened
    },
    end,
    fail,
    async orFail(slot, work) {
      try {
        await work()
      } catch (cause) {
        fail(slot, cause)
      }
    },
  }
}

/** Whether a slot's cache contains its whole prompt. */
export const isReady = ({ place, missing, copies }: Slot): boolean =>
  place !== null && missing.length === 0 && copies === null
