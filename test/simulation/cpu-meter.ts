import { seededRandom } from '../../servers/kernel/index.js'
import type { TurnMeter } from '../chaos/virtual-time.js'

/** Of a machine's turns, which one is measured: asking what was spent costs more than most turns do. */
const ONE_IN = 8

/**
 * Processor time of everything that happens on one machine, all threads of this process included (garbage collection, disk), by the
 * turns that were measured.
 */
export interface CpuMeter {
  readonly turn: TurnMeter
  /** Microseconds. */
  readonly spentUs: number
  readonly turns: number
}

const spent = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}
const nothing = (): void => undefined

export function cpuMeter(owner: string): CpuMeter {
  let spentUs = 0
  let turns = 0
  // By chance and the same in every run: every eighth turn might be of one kind.
  const random = seededRandom(ONE_IN)
  return {
    get spentUs() {
      return spentUs
    },
    get turns() {
      return turns
    },
    turn(machine) {
      if (machine !== owner) return nothing
      turns += 1
      if (random.int(1, ONE_IN) > 1) return nothing
      const before = spent()
      return () => {
        spentUs += ONE_IN * (spent() - before)
      }
    },
  }
}
