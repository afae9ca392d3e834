import { StoreError } from '../../../coordinator/ledger/event-log.js'
import type { ChaosRun } from '../chaos-run.js'
import { bend, blobsOf, cutShare, keepLog, loseHead } from '../damage.js'
import type { Machine } from '../sim-process.js'
import { meanwhile, type Scenario } from './scenario.js'

const MIB = 1024 * 1024
const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || isFull(error.cause))

const fill = (machine: Machine): void => {
  machine.faultAt = ({ writes }) => (writes ? 'no-space' : null)
}

const isShortened = (error: unknown): boolean =>
  error instanceof StoreError && (error.code === 'truncated' || error.code === 'headless')

/** Events of some kinds that the coordinator knows of. */
const eventsIn = ({ state }: ChaosRun): number =>
  state ? state.rounds.length + state.leases.size + state.judged.size : 0

export const DISKS: readonly Scenario[] = [
  {
    name: 'full-disk',
    about: 'the disk of the coordinator or of a volunteer is full for a while',
    expects: isFull,
    async befall(run, random) {
      for (let times = 0; times < 5 && !run.finished; times++) {
        await run.pass(random.int(500, 8000))
        const machine = random.pick([run.coordinator.machine, ...run.volunteers.map((one) => one.machine)])
        fill(machine)
        await run.pass(random.int(200, 10_000))
        machine.faultAt = () => null
      }
    },
  },
  {
    name: 'full-now-and-then',
    about: 'single writes of the coordinator find no room',
    expects: isFull,
    async befall(run, random) {
      run.coordinator.machine.faultAt = ({ writes }) => (writes && random.chance(0.03) ? 'no-space' : null)
    },
  },
  {
    name: 'damaged-chunk',
    about: 'volunteers hold damaged adapters and half-done downloads when others ask them for chunks',
    settings: { adapterBytes: 3 * MIB - 5 },
    async befall(run, random) {
      run.simulated.network.everywhere({ bytesPerSecond: 2 * MIB })
      for (let times = 0; times < 3; times++) {
        const i = random.int(0, run.volunteers.length - 1)
        const victim = run.volunteers[i]!
        const before = run.stated[i]!.length
        // Loaded already, it is asked for by others, and wanted again at the next start.
        const loads = (): boolean => run.stated[i]!.slice(before).some(({ type }) => type === 'policy')
        if (!(await meanwhile(run, 'a new policy', loads))) break
        await run.pass(random.int(0, 1000))
        victim.restartMs = null
        victim.kill()
        await run.simulated.bury()
        for (const path of await blobsOf(victim.machine)) {
          await bend(path, random.int(0, 3 * MIB - 6))
          run.simulated.blow('file damaged')
        }
        victim.restartMs = 2000
        victim.start()
      }
    },
  },
  {
    name: 'shortened-log',
    about: 'the end of the log is lost, or its head: the coordinator says so at each start, until the log is put back',
    expects: isShortened,
    async befall(run, random) {
      const { coordinator, simulated: environment } = run
      const { machine } = coordinator
      for (let times = 0; times < 3; times++) {
        if (!(await meanwhile(run, 'the start', () => run.state !== undefined))) return
        const before = eventsIn(run)
        if (!(await meanwhile(run, 'some events', () => eventsIn(run) >= before + 6))) return
        await run.pass(random.int(0, 3000))
        coordinator.restartMs = null
        coordinator.kill()
        await environment.bury()
        const putBack = await keepLog(machine)
        // More than the head may be behind by.
        await (random.chance(0.3) ? loseHead(machine) : cutShare(machine, random.int(60, 100) / 100))
        environment.blow('log shortened')
        for (let starts = 0; starts < 2; starts++) {
          const exits = run.exits.length
          coordinator.start()
          await run.until('the refusal', () => run.exits.length > exits || run.state !== undefined, 60_000)
          if (run.state) throw new Error('the coordinator goes on with a shortened log')
          await environment.bury()
        }
        await putBack()
        coordinator.restartMs = 1000
        coordinator.start()
      }
    },
  },
]
