import type { TurnMeter } from '../chaos/virtual-time.js'

/** Processor time of everything that happens on one machine, all threads of this process included (garbage collection, disk). */
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
  return {
    get spentUs() {
      return spentUs
    },
    get turns() {
      return turns
    },
    turn(machine) {
      if (machine !== owner) return nothing
      const before = spent()
      return () => {
        spentUs += spent() - before
        turns += 1
      }
    },
  }
}
