import { PerformanceObserver } from 'node:perf_hooks'
import { seededRandom } from '../../servers/kernel/index.js'
import type { TurnMeter } from '../chaos/virtual-time.js'

/** Of a machine's turns, which one is measured: asking what was spent costs more than most turns do. */
const ONE_IN = 8

/**
 * Processor time of everything that happens on one machine, by the turns that were measured. Of a turn in which garbage was collected
 * only the rest of its time counts: it is that of all nodes, and with ten thousand of them one collection takes seconds.
 */
export interface CpuMeter {
  readonly turn: TurnMeter
  /** Microseconds. */
  readonly spentUs: number
  readonly turns: number
}

/** A turn that was measured (ms), and what it took (us). */
interface Turn {
  readonly fromMs: number
  readonly toMs: number
  readonly spentUs: number
}

const spent = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}
const nothing = (): void => undefined

/** Collections are told of some turns later. */
const REPORTED_AFTER_MS = 5000
const SETTLED_AT_ONCE = 4096

/** @param oneIn  of so many turns, one is measured */
export function cpuMeter(owner: string, oneIn = ONE_IN): CpuMeter & { close(): void } {
  let spentUs = 0
  let turns = 0
  let unsettled: Turn[] = []
  let collections: { readonly fromMs: number; readonly toMs: number }[] = []
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      collections.push({ fromMs: startTime, toMs: startTime + duration })
  })
  observer.observe({ entryTypes: ['gc'] })
  const settle = (untilMs: number): void => {
    let next = 0
    for (const turn of unsettled) {
      if (turn.toMs > untilMs) break
      while (next < collections.length && collections[next]!.toMs < turn.fromMs) next += 1
      let collectingMs = 0
      for (let i = next; i < collections.length && collections[i]!.fromMs < turn.toMs; i += 1) {
        const { fromMs, toMs } = collections[i]!
        collectingMs += Math.min(toMs, turn.toMs) - Math.max(fromMs, turn.fromMs)
      }
      const restUs = 1000 * Math.max(0, turn.toMs - turn.fromMs - collectingMs)
      spentUs += oneIn * (collectingMs > 0 ? Math.min(turn.spentUs, restUs) : turn.spentUs)
    }
    unsettled = unsettled.filter(({ toMs }) => toMs > untilMs)
    collections = collections.filter(({ toMs }) => toMs > untilMs)
  }
  // By chance and the same in every run: every eighth turn might be of one kind.
  const random = seededRandom(oneIn)
  return {
    get spentUs() {
      settle(performance.now())
      return spentUs
    },
    get turns() {
      return turns
    },
    turn(machine) {
      if (machine !== owner) return nothing
      turns += 1
      if (random.int(1, oneIn) > 1) return nothing
      const fromMs = performance.now()
      const before = spent()
      return () => {
        unsettled.push({ fromMs, toMs: performance.now(), spentUs: spent() - before })
        if (unsettled.length > SETTLED_AT_ONCE) settle(performance.now() - REPORTED_AFTER_MS)
      }
    },
    close: () => observer.disconnect(),
  }
}
