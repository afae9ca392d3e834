import { EngineError } from './errors.js'
import { createSlotCaches, type LockstepSequence } from './slot-caches.js'
import { runPass, type SlotPassOptions } from './slot-pass.js'
import { createSlotTable, isReady, type LockstepSlot, type Slot, type SlotEvents } from './slot-table.js'
import type { Token } from './types.js'

/** The clock of a lockstep. */
export interface Timekeeper {
  /** Milliseconds on a monotonic clock. */
  readonly nowMs: number
  /** Calls back once, `ms` from now. @returns  a function that cancels the call */
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

export interface LockstepOptions extends SlotPassOptions {
  /** Milliseconds that a pass waits for a slot between two turns before it runs without that slot. */
  readonly slotWaitMs: number
  /** Whether slots of a group with equal prompts share one computation of the prompt. Default: true. */
  readonly sharePrompts?: boolean
  /** Whether rollouts that are opened while no others are open may reuse the caches of earlier ones. Default: false. */
  readonly keepCaches?: boolean
  /** Default: the system's clock. */
  readonly time?: Timekeeper
}

/** Rollouts that were opened together. */
export interface OpenSlots {
  /** Begins a slot's turn with the environment's tokens since the last one. */
  next(slot: number, feed: readonly Token[], maxTokens: number): void
  /** Removes a slot; a turn in progress stops after the current decode. Idempotent. */
  leave(slot: number): void
  /** Resolves when every slot has left or failed. */
  readonly over: Promise<void>
}

export interface Lockstep {
  /** Adds rollouts to those in progress. Rollouts without a free sequence wait, in the order of opening. */
  open(slots: readonly LockstepSlot[], events: SlotEvents): OpenSlots
}

/**
 * Generates rollouts in lockstep: each pass takes one step of every sampling slot at once, so that each decode is one full
 * batch. Free-running generators fall out of step and lose about a third of the speed.
 *
 * The tokens of a slot follow from its prompt, its seeds and its feeds. Other slots change only the last bits of its
 * log-probabilities.
 *
 * A pass waits for slots that are between two turns. So the composition of every batch does not depend on timing as long as no rollouts
 * are opened meanwhile. Nor does any bit of the result. Only a slot later than `slotWaitMs` is left behind. Rollouts that are opened
 * while no others are open start with empty caches, unless `keepCaches` is set.
 *
 * Prompts and the environment's tokens are fed in pieces next to the steps of other slots, `passTokens` per pass. So a long
 * prompt delays no slot for more than one decode.
 *
 * A slot that begins a turn moves to another sequence if that closes a gap, see `placeWithoutGap`.
 */
export function createLockstep(sequences: readonly LockstepSequence[], options: LockstepOptions): Lockstep {
  const { time = systemTime, sharePrompts = true, keepCaches = false, slotWaitMs } = options
  const table = createSlotTable(sharePrompts)
  const caches = createSlotCaches(sequences, table)
  let running = false
  /** Whether something that `gather` waits for may have changed, also while `gather` works on slots. */
  let changed = false
  let resume = () => {}
  const wake = () => {
    changed = true
    resume()
  }

  /** Waits until a pass can start. @returns  the slots that have work; none when all have ended */
  const gather = async (): Promise<Slot[]> => {
    let deadline: number | null = null
    for (;;) {
      changed = false
      for (const slot of table.slots) if (slot.leaving) table.end(slot)
      if (table.slots.length === 0) {
        running = false
        return []
      }
      const placed = table.slots.filter(({ place }) => place !== null)
      const [ready, unready] = [placed.filter(isReady), placed.filter((slot) => !isReady(slot))]
      const busy = [...unready, ...ready.filter(({ state }) => state === 'sampling')]
      const awaited = ready.filter(({ state, late }) => state === 'idle' && !late)
      // Not before all slots of this pass are known: the placement must not depend on whose message arrived first.
      if (awaited.length === 0 && ((await caches.admit()) || (await caches.copyPrompts()))) continue
      if (busy.length > 0 && awaited.length === 0) return busy
      // The clock runs only while a slot could continue. Without that condition, this loop would mark slots late after a
      // deadline and turn without letting their messages through.
      deadline = busy.length > 0 ? (deadline ?? time.nowMs + slotWaitMs) : null
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

  const run = async (): Promise<void> => {
    try {
      if (!keepCaches) for (const sequence of sequences) await sequence.clear()
    } catch (cause) {
      for (const slot of table.slots) table.fail(slot, cause)
    }
    for (let pass = await gather(); pass.length > 0; pass = await gather()) await runPass(pass, table, caches, options)
  }

  const begin = (slot: Slot | undefined, feed: readonly Token[], maxTokens: number): void => {
    if (slot === undefined || slot.state === 'over' || slot.leaving) return
    const { index, events, turns } = slot
    const seed = slot.seeds[turns]
    if (slot.state === 'sampling') {
      slot.leaving = true
      events.onFailed(index, new EngineError('bad_request', `slot ${index} is still sampling its previous turn`))
    } else if (seed === undefined) {
      table.fail(slot, new EngineError('bad_request', `slot ${index} has no seed for turn ${turns}`))
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
      let finish = () => {}
      const over = new Promise<void>((resolve) => {
        finish = resolve
      })
      const opened = table.add(setups, events, () => finish())
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
