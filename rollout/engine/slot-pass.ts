import type { SlotCaches } from './slot-caches.js'
import { isReady, type Slot, type SlotTable, type Turn } from './slot-table.js'
import type { Token } from './types.js'

export interface SlotPassOptions {
  /** Tokens that one pass feeds at most: the size of one llama.cpp decode. */
  readonly passTokens: number
  isEndOfGeneration(token: Token): boolean
}

/**
 * Takes one pass: one step of every sampling slot, and the rest of the tokens for prompts and feeds, oldest slots first.
 * @param pass  the slots that have work
 */
export async function runPass(
  pass: readonly Slot[],
  table: SlotTable,
  { closeGap, sequenceOf }: SlotCaches,
  options: SlotPassOptions,
): Promise<void> {
  // One after the other and in the order of the slots, in whatever order their feeds arrived.
  for (const slot of pass) {
    const turn = slot.current
    if (!isReady(slot) || turn === null || turn.settled) continue
    turn.settled = true
    await table.orFail(slot, () => closeGap(slot))
  }
  const works = workOf(
    pass.filter(({ state }) => state !== 'over'),
    table.slots,
    sequenceOf,
    options,
  )
  // llama.cpp decodes neighbours together only in their order.
  const inOrder = [...works].sort(([a], [b]) => a.place! - b.place!)
  await Promise.all(inOrder.map(([slot, work]) => table.orFail(slot, work)))
}

/** Returns the work of each slot in a pass. */
function workOf(
  pass: readonly Slot[],
  slots: readonly Slot[],
  sequenceOf: SlotCaches['sequenceOf'],
  options: SlotPassOptions,
): Map<Slot, () => Promise<void>> {
  const works = new Map<Slot, () => Promise<void>>()
  for (const slot of pass) if (slot.current?.steps) works.set(slot, () => step(slot, slot.current!, options))
  let capacity = options.passTokens - works.size
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
        return step(slot, current!, options)
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

/** Samples one token of a slot, and ends its turn when the turn is complete. */
async function step(slot: Slot, turn: Turn, { isEndOfGeneration }: SlotPassOptions): Promise<void> {
  const token = await turn.steps!.next()
  turn.tokens.push(token)
  const ended = isEndOfGeneration(token)
  if (!ended && turn.tokens.length < turn.maxTokens) return
  const logprobs = await turn.steps!.logprobs()
  slot.current = null
  slot.last = token
  slot.state = 'idle'
  if (slot.leaving) return
  slot.events.onTurn(slot.index, { tokens: turn.tokens, logprobs, stop: ended ? 'end' : 'length' })
}
