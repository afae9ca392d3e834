import type { EngineChild, LaneMessage } from './child.js'
import { killUnlessSettled } from './child-watch.js'
import { SETTLE_TIMEOUT_MS } from './constants.js'
import type { EngineError } from './errors.js'
import { abortable } from './fair-lock.js'
import type { Hold } from './jobs.js'
import { createLaneGroup, type LaneGroup } from './slot-group.js'
import type { LaneRequest, TokenSource } from './types.js'

/** The groups of lanes that are open in an engine's process. */
export interface LaneGroups {
  /**
   * @param contextSize  tokens a lane may hold in all
   * @param signal       of the whole group
   * @param onEnd        hears once of each lane that is over
   * @param hold         gets the end of the group
   */
  open(
    child: EngineChild,
    requests: readonly LaneRequest[],
    contextSize: number,
    signal: AbortSignal,
    onEnd: (lane: number) => void,
    hold: Hold,
  ): Promise<TokenSource[]>
  receive(message: LaneMessage): void
  /** The process is gone: every lane ends with this error. */
  fail(error: EngineError): void
}

export function createLaneGroups(): LaneGroups {
  const groups = new Map<number, LaneGroup>()
  let opened = 0
  return {
    async open(child, requests, contextSize, signal, onEnd, hold) {
      const number = opened++
      const lanes = requests.map(({ prompt, ...lane }) => ({ ...lane, prompt: Int32Array.from(prompt) }))
      const { answer } = child.request({ kind: 'open', group: number, lanes })
      const opening = answer.then(() => {
        const group = createLaneGroup(child, number, requests, contextSize, signal, onEnd)
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
