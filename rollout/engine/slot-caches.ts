import type { LlamaSequence } from './sequence.js'
import type { Slot, SlotTable } from './slot-table.js'

/** The part of a sequence that lockstep uses. */
export interface LockstepSequence extends Pick<LlamaSequence, 'clear' | 'prefill' | 'keepPrefix' | 'begin'> {
  copyFrom(other: LockstepSequence, tokens?: number): Promise<void>
}

/** Returns the sizes of the runs of neighbours among some places. The run of the first place comes first. */
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
 * Returns the best place for a slot to continue in. llama.cpp decodes only neighbouring sequences together. So every gap that
 * ended slots leave costs one more decode in each pass. With 8 slots in every other place, a token takes 2.5 ms of CPU instead of 0.9.
 * @param others  places of the other living slots
 * @returns  the free place that leaves the fewest runs of neighbours, or else one in a larger run. So runs of several slots merge in
 *           time. It is the slot's own place if no other one is better
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

/** Returns the size of the run that contains the place, and the number of runs. */
function measure(place: number, others: readonly number[]): readonly [number, number] {
  const runs = runsOf([place, ...others])
  return [runs[0]!, runs.length]
}

/** Assigns the sequences of a context to slots, and fills their caches with prompts. */
export interface SlotCaches {
  sequenceOf(slot: Slot): LockstepSequence
  /** Moves a slot to the place that leaves no gap. */
  closeGap(slot: Slot): Promise<void>
  /** Gives free places to waiting slots. @returns  whether a slot got one */
  admit(): Promise<boolean>
  /** Copies complete prompts to the slots that wait for them. @returns  whether there was one to copy */
  copyPrompts(): Promise<boolean>
}

export function createSlotCaches(sequences: readonly LockstepSequence[], table: SlotTable): SlotCaches {
  const sequenceOf = ({ place }: Slot): LockstepSequence => sequences[place!]!

  /** Returns the places of all living slots except one. */
  const otherPlaces = (slot: Slot): number[] =>
    table.slots.flatMap((other) => (other === slot || other.place === null ? [] : [other.place]))

  /** Finds the missing part of a placed slot's prompt, and whether another slot computes it. */
  const prepare = async (slot: Slot): Promise<void> => {
    const { prompt } = slot
    const kept = await sequenceOf(slot).keepPrefix(prompt)
    const computes = (other: Slot): boolean =>
      other !== slot && other.prompt === prompt && other.place !== null && other.copies === null
    slot.copies = kept < prompt.length ? (table.slots.find(computes) ?? null) : null
    slot.missing = slot.copies === null ? prompt.slice(kept) : []
  }

  return {
    sequenceOf,
    async closeGap(slot) {
      const from = sequenceOf(slot)
      const better = placeWithoutGap(slot.place!, otherPlaces(slot), sequences.length)
      if (better === slot.place) return
      await sequences[better]!.copyFrom(from)
      slot.place = better
    },
    async admit() {
      let admitted = false
      for (const slot of table.slots.filter(({ place }) => place === null)) {
        const taken = otherPlaces(slot)
        const free = sequences.findIndex((_, place) => !taken.includes(place))
        if (free === -1) break
        slot.place = placeWithoutGap(free, taken, sequences.length)
        admitted = true
        await table.orFail(slot, () => prepare(slot))
      }
      return admitted
    },
    async copyPrompts() {
      let copied = false
      for (const slot of table.slots) {
        const from = slot.copies
        if (from === null || (from.state !== 'over' && from.missing.length > 0)) continue
        copied = true
        await table.orFail(slot, async () => {
          if (from.state === 'over') return await prepare(slot)
          await sequenceOf(slot).copyFrom(sequenceOf(from), slot.prompt.length)
          slot.copies = null
        })
      }
      return copied
    },
  }
}
