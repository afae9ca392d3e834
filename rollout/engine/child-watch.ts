import type { EngineChild } from './child.js'

/** Kills a process that does not finish its work in time: a hang in native code cannot be ended from within. */
export function killUnlessSettled(child: EngineChild, work: Promise<unknown>, timeoutMs: number): void {
  const timer = setTimeout(() => child.kill(), timeoutMs)
  const settled = () => clearTimeout(timer)
  work.then(settled, settled)
}
