import type { SeededRandom } from '../../servers/kernel/index.js'
import type { Clock } from '../../swarm/index.js'
import { createVirtualClock, type VirtualTime } from './virtual-time.js'

/** What happens to a disk operation: the process ends before or after it reached the disk, or the disk is full. */
export type DiskFault = 'crash-before' | 'crash-after' | 'no-space'

export interface DiskOperation {
  /** For example `write`, `rename`, `log append`. */
  readonly what: string
  /** Whether it takes room on the disk. */
  readonly writes: boolean
  /** Counts the operations of this process, from 1. */
  readonly number: number
}

/** What a machine keeps when its process ends: name, folder, clock, and the faults that are planned for it. */
export interface Machine {
  readonly name: string
  readonly folder: string
  /** How long its disk takes, in virtual time; real files and databases take none of that. */
  diskMs: (operation: DiskOperation) => number
  /** How far its clock is off. */
  clockOffsetMs: number
  /** Asked at every disk operation. */
  faultAt: (operation: DiskOperation) => DiskFault | null
}

/**
 * One life of a program on a machine. Killed, it does nothing any more: its waits do not end, its disk operations do not come
 * back, its connections are cut. The objects stay in memory, frozen wherever they stood.
 */
export interface SimProcess {
  readonly machine: Machine
  readonly alive: boolean
  readonly clock: Clock
  /** Does a disk operation, or what is planned instead of it. */
  disk<T>(what: string, writes: boolean, work: () => Promise<T>): Promise<T>
  /** Called when the process is killed. */
  onKill(listener: () => void): void
  kill(): void
}

/** A new one each time: waiting for one and the same would keep every frozen process in memory. */
const never = (): Promise<never> => new Promise(() => {})

/** @param blow  notes that something befell the process */
export function startProcess(
  machine: Machine,
  time: VirtualTime,
  blow: (kind: string) => void = () => undefined,
): SimProcess {
  let alive = true
  const clock = createVirtualClock(
    time,
    () => machine.clockOffsetMs,
    () => alive,
    machine.name,
  )
  let operations = 0
  const listeners: (() => void)[] = []
  const kill = (): void => {
    if (!alive) return
    alive = false
    blow('ended')
    for (const listener of listeners.splice(0)) listener()
  }
  return {
    machine,
    get alive() {
      return alive
    },
    clock,
    async disk(what, writes, work) {
      if (!alive) return never()
      operations += 1
      const operation: DiskOperation = { what, writes, number: operations }
      const fault = machine.faultAt(operation)
      if (fault === 'no-space' && writes) {
        blow('no room')
        throw noSpace(what)
      }
      const ms = machine.diskMs(operation)
      if (fault === 'crash-before') {
        // What nobody may know before it is on disk has time to get out.
        if (ms > 0) await clock.sleep(ms)
        kill()
        return never()
      }
      const outcome = await work().then(
        (value) => () => value,
        (error: unknown) => () => {
          throw error
        },
      )
      if (fault === 'crash-after') kill()
      // Meanwhile others go on, and may see what they should not see before it is on disk.
      if (ms > 0) await clock.sleep(ms)
      return alive ? outcome() : never()
    },
    onKill: (listener) => listeners.push(listener),
    kill,
  }
}

export const noSpace = (what: string): Error =>
  Object.assign(new Error(`ENOSPC: no space left on device, ${what}`), { code: 'ENOSPC', errno: -28, syscall: what })

/** A fault at each operation with a certain chance. */
export const sometimes =
  (random: SeededRandom, chance: number, faults: readonly DiskFault[]): Machine['faultAt'] =>
  () =>
    random.chance(chance) ? random.pick(faults) : null
