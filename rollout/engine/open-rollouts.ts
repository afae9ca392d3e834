import { abortable } from './fair-lock.js'

/** Counts the rollouts that are open or requested in an engine. */
export interface OpenRollouts {
  add(count: number): { end(rollout: number): void; endAll(): void }
  /** Resolves when fewer than `count` are open. Rejects with the signal's reason. */
  below(count: number, signal: AbortSignal): Promise<void>
}

export function createOpenRollouts(): OpenRollouts {
  let open = 0
  const waiting = new Set<() => void>()
  return {
    add(count) {
      open += count
      const left = new Set(Array.from({ length: count }, (_, rollout) => rollout))
      const end = (rollout: number): void => {
        if (!left.delete(rollout)) return
        open -= 1
        for (const look of [...waiting]) look()
      }
      return {
        end,
        endAll: () => {
          for (const rollout of [...left]) end(rollout)
        },
      }
    },
    async below(count, signal) {
      signal.throwIfAborted()
      let look = () => {}
      const come = new Promise<void>((resolve) => {
        look = () => {
          if (open < count) resolve()
        }
      })
      waiting.add(look)
      look()
      await abortable(come, signal).finally(() => waiting.delete(look))
    },
  }
}
