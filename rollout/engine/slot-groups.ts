import type { EngineChild, SlotMessage } from './child.js'
import { killUnlessSettled } from './child-watch.js'
import { SETTLE_TIMEOUT_MS } from './constants.js'
import type { EngineError } from './errors.js'
import { abortable } from './fair-lock.js'
import type { Hold } from './jobs.js'
import { createSlotGroup, type SlotGroup } from './slot-group.js'
import type { SlotRequest, TokenSource } from './types.js'

/** The open groups of slots in an engine's process. */
export interface SlotGroups {
  /**
   * @param contextSize  maximal tokens of a slot
   * @param signal       of the whole group
   * @param onEnd        called once for each slot that ends
   * @param hold         receives the end of the group
   */
  open(
    child: EngineChild,
    requests: readonly SlotRequest[],
    contextSize: number,
    signal: AbortSignal,
    onEnd: (slot: number) => void,
    hold: Hold,
  ): Promise<TokenSource[]>
  receive(message: SlotMessage): void
  /** Ends every slot with this error, when the process has ended. */
  fail(error: EngineError): void
}

export function createSlotGroups(): SlotGroups {
  const groups = new Map<number, SlotGroup>()
  let opened = 0
  return {
    async open(child, requests, contextSize, signal, onEnd, hold) {
      const number = opened++
      const slots = requests.map(({ prompt, ...slot }) => ({ ...slot, prompt: Int32Array.from(prompt) }))
      const { answer } = child.request({ kind: 'open', group: number, slots })
      const opening = answer.then(() => {
        const group = createSlotGroup(child, number, requests, contextSize, signal, onEnd)
        groups.set(number, group)
        void group.over.then(() => groups.delete(number))
        return group
      })
      hold(opening.then(({ over }) => over))
      const { sources } = await abortable(opening, signal, () => killUnlessSettled(child, answer, SETTLE_TIMEOUT_MS))
      return [...sources]
    },
    receive: (message) => groups.get(message.group)?.receive(message),
    fail(error) {
      for (const group of groups.values()) group.fail(error)
    },
  }
}
