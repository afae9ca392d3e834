import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SeededRandom, seededRandom } from '../../servers/kernel/index.js'
import type { SwarmLogger } from '../../swarm/index.js'
import { countCompression, createUnderway, type Underway } from './quiet.js'
import { mountDisk, type SimDisk, seedRandomness } from './sim-disk.js'
import { HostDirectory } from './sim-host.js'
import { createSimNetwork, type SimNetwork } from './sim-network.js'
import { type Machine, type SimProcess, startProcess } from './sim-process.js'
import { createVirtualTime, type TurnMeter, type VirtualTime } from './virtual-time.js'

/** Something a simulated program reported as an error of its own. */
export interface Mishap {
  readonly machine: string
  readonly message: string
  readonly error: unknown
}

/** Machines, the wires between them, and one time for all: the same seed gives the same course of everything. */
export interface SimulatedRun {
  readonly time: VirtualTime
  readonly random: SeededRandom
  readonly network: SimNetwork
  readonly directory: HostDirectory
  readonly underway: Underway
  readonly mishaps: Mishap[]
  /** What befell this world so far, by kind. */
  readonly blows: Map<string, number>
  /** Notes that something befell it. */
  blow(kind: string): void
  machine(name: string): Promise<Machine>
  /** Starts a program on a machine, after what an earlier one left open there has been closed. */
  start(machine: Machine): Promise<SimProcess>
  /**
   * Opens a database for a process. What its process leaves open is closed when the process is gone, as a kernel would.
   * @param folder  of the database
   * @param open  resolves with what has to be closed
   */
  database<T extends { close(): Promise<void> }>(
    process: SimProcess,
    folder: string,
    open: () => Promise<T>,
  ): Promise<T>
  /** Closes what killed programs left open. */
  bury(): Promise<void>
  /** A logger that notes errors. */
  logger(process: SimProcess): SwarmLogger
  close(): Promise<void>
}

/**
 * What an operation takes at most, in virtual time. None that a database does by itself when it is opened: time would wait for
 * the database, and the database for time.
 */
const SLOWEST_MS: ReadonlyMap<string, number> = new Map([
  ['log append', 40],
  ['store write', 40],
  ['datasync', 20],
  ['write', 1],
  ['rename', 1],
])

/**
 * @param meter  what is to be measured of each turn
 * @param canBlock  whether partitions and stalls are to come; without them ten thousand machines cost less
 */
export async function createSimulatedRun(
  seed: number,
  { meter, canBlock = true }: { readonly meter?: TurnMeter; readonly canBlock?: boolean } = {},
): Promise<SimulatedRun> {
  const underway = createUnderway()
  const root = await mkdtemp(join(tmpdir(), 'prove-chaos-'))
  const unseed = seedRandomness(seed)
  const uncount = countCompression(underway)
  const random = seededRandom(seed)
  const time = createVirtualTime(() => underway.quiet(), meter)
  const disk: SimDisk = mountDisk()
  const mishaps: Mishap[] = []
  const blows = new Map<string, number>()
  const blow = (kind: string): void => void blows.set(kind, (blows.get(kind) ?? 0) + 1)
  const processes = new Set<SimProcess>()
  const leftOpen = new Map<SimProcess, (() => Promise<void>)[]>()

  const closeOf = async (process: SimProcess): Promise<void> => {
    for (const close of leftOpen.get(process) ?? []) await underway.count(close())
    leftOpen.delete(process)
  }
  const bury = async (): Promise<void> => {
    for (const process of [...processes]) {
      if (process.alive) continue
      processes.delete(process)
      await closeOf(process)
      await disk.unmount(process)
    }
  }

  return {
    time,
    random,
    network: createSimNetwork(time, random, blow, canBlock),
    directory: new HostDirectory(),
    underway,
    mishaps,
    blows,
    blow,
    async machine(name) {
      const folder = join(root, name)
      await mkdir(folder)
      const diskMs: Machine['diskMs'] = ({ what }) => random.int(0, SLOWEST_MS.get(what) ?? 0)
      return { name, folder, clockOffsetMs: 0, diskMs, faultAt: () => null }
    },
    async start(machine) {
      await bury()
      const process = startProcess(machine, time, blow)
      processes.add(process)
      disk.mount(process)
      return process
    },
    bury,
    database(process, folder, open) {
      disk.leaveOut(folder)
      return process.disk('open database', false, () => {
        const opening = underway.count(open())
        const closers = leftOpen.get(process) ?? []
        leftOpen.set(process, closers)
        closers.push(() =>
          opening.then(
            (database) => database.close(),
            () => undefined,
          ),
        )
        return opening
      })
    },
    logger(process) {
      const { name } = process.machine
      const logger: SwarmLogger = {
        child: () => logger,
        debug: () => undefined,
        info: () => undefined,
        warn(fields) {
          const { kind, outcome } = fields as { readonly kind?: unknown; readonly outcome?: unknown }
          if (process.alive && outcome !== undefined) blow(`${kind} ${outcome}`)
        },
        error(fields, message) {
          if (process.alive) mishaps.push({ machine: name, message, error: (fields as { error?: unknown }).error })
        },
      }
      return logger
    },
    async close() {
      for (const process of processes) process.kill()
      await underway.quiet()
      await bury()
      disk.restore()
      unseed()
      uncount()
      await rm(root, { recursive: true, force: true })
    },
  }
}
