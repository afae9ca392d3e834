import { cutTail } from '../damage.js'
import type { Machine } from '../sim-process.js'
import { sometimes } from '../sim-process.js'
import { meanwhile, type Scenario } from './scenario.js'

/** A crash at every so many-th event: more often, and no reply would ever reach a volunteer. */
const STRIDE = 5

/** Ends the process at each event whose number leaves `remainder`, before and after it reached the disk in turn. */
function crashAtEvents(machine: Machine, remainder: number, beforeFirst: boolean): void {
  let appends = 0
  machine.faultAt = ({ what }) => {
    if (what !== 'log append') return null
    appends += 1
    if (appends % STRIDE !== remainder) return null
    return Math.floor(appends / STRIDE) % 2 === Number(beforeFirst) ? 'crash-before' : 'crash-after'
  }
}

/** At a step that finds the policy drifted, the adapter before comes back, and what the worse one sampled is left out. */
const DRIFTS_AT = 3

export const CRASHES: readonly Scenario[] = [
  {
    name: 'coordinator-at-events',
    about: `the coordinator ends at every ${STRIDE}th event, before or after it is on disk; ten seeds in a row reach every event`,
    async befall(run, random) {
      crashAtEvents(run.coordinator.machine, random.int(0, STRIDE - 1), random.chance(0.5))
    },
  },
  {
    name: 'coordinator-at-disk',
    about: 'the coordinator ends at disk operations of every kind',
    async befall(run, random) {
      run.coordinator.machine.faultAt = sometimes(random, 0.01, ['crash-before', 'crash-after'])
    },
  },
  {
    name: 'coordinator-at-heads',
    about: 'the coordinator ends while it notes how far its log reaches, before or after that is on disk',
    async befall(run, random) {
      let left = random.int(1, 6)
      run.coordinator.machine.faultAt = ({ what }) => {
        if (what !== 'datasync' || --left > 0) return null
        left = random.int(3, 8)
        return random.chance(0.5) ? 'crash-before' : 'crash-after'
      }
    },
  },
  {
    name: 'torn-log',
    about: 'the coordinator ends in the middle of writing an event, and finds half of it when it starts',
    async befall(run, random) {
      const { coordinator } = run
      for (let times = 0; times < 4; times++) {
        let left = random.int(1, 8)
        coordinator.restartMs = null
        coordinator.machine.faultAt = ({ what }) => (what === 'log append' && --left === 0 ? 'crash-after' : null)
        if (!(await meanwhile(run, 'the crash', () => left <= 0 && !coordinator.process!.alive))) break
        await run.simulated.bury()
        await cutTail(coordinator.machine, random.int(1, 40))
        coordinator.restartMs = 1000
        coordinator.start()
      }
      coordinator.machine.faultAt = () => null
      coordinator.restartMs = 1000
    },
  },
  {
    name: 'volunteer-at-work',
    about: 'volunteers end while they generate a group',
    async befall(run, random) {
      for (let times = 0; times < 8; times++) {
        const i = random.int(0, run.volunteers.length - 1)
        const holds = (): boolean =>
          [...(run.state?.openLeases.values() ?? [])].some(({ node }) => node === run.peerIds[i])
        if (!(await meanwhile(run, 'a lease', holds))) return
        await run.pass(random.int(0, 1500))
        run.volunteers[i]!.kill()
      }
    },
  },
  {
    name: 'volunteer-at-upload',
    about: 'volunteers end while their groups are under way over a slow line',
    async befall(run, random) {
      run.simulated.network.everywhere({ bytesPerSecond: 20_000 })
      for (let times = 0; times < 6; times++) {
        const i = random.int(0, run.volunteers.length - 1)
        const before = run.stated[i]!.length
        const sends = (): boolean => run.stated[i]!.slice(before).some(({ type }) => type === 'group')
        if (!(await meanwhile(run, 'a finished group', sends))) break
        await run.pass(random.int(0, 1000))
        run.volunteers[i]!.kill()
      }
      run.simulated.network.everywhere({ bytesPerSecond: 20e6 })
    },
  },
  {
    name: 'volunteer-at-disk',
    about: 'volunteers end at disk operations of every kind',
    async befall(run, random) {
      for (const { machine } of run.volunteers)
        machine.faultAt = sometimes(random, 0.02, ['crash-before', 'crash-after'])
    },
  },
  {
    name: 'trainer-at-step',
    about: 'the trainer ends in the middle of its steps, alone or together with the coordinator',
    async befall(run, random) {
      for (let times = 0; times < 6; times++) {
        const training = (): boolean => run.state?.pendingBatch !== undefined
        if (!(await meanwhile(run, 'a batch', training))) return
        await run.pass(random.int(0, 2500))
        if (random.chance(0.6)) {
          run.trainer?.crash()
          run.simulated.blow('trainer ended')
        } else run.coordinator.kill()
      }
    },
  },
  {
    name: 'everyone-leaves',
    about: 'all volunteers leave, and come back one after the other',
    async befall(run, random) {
      for (let times = 0; times < 3; times++) {
        if (!(await meanwhile(run, 'a lease', () => (run.state?.openLeases.size ?? 0) > 0))) return
        await run.pass(random.int(0, 3000))
        for (const volunteer of run.volunteers) {
          volunteer.restartMs = null
          volunteer.kill()
        }
        await run.pass(random.int(5_000, 90_000))
        for (const volunteer of run.volunteers) {
          volunteer.restartMs = 2000
          volunteer.start()
          await run.pass(random.int(0, 3000))
        }
      }
    },
  },
  {
    name: 'drift',
    about: 'the policy drifts away from its samplers, and the coordinator ends around the roll-back',
    settings: { driftsAt: DRIFTS_AT },
    async befall(run, random) {
      crashAtEvents(run.coordinator.machine, random.int(0, STRIDE - 1), random.chance(0.5))
    },
    check: (events) => {
      const adapters = events.flatMap((event) => (event.type === 'published' ? [event.adapterStep] : []))
      const expected = adapters.map((_, version) => (version === DRIFTS_AT ? DRIFTS_AT - 2 : version))
      return adapters.join() === expected.join() ? [] : [`adapters of the versions: ${adapters.join(' ')}`]
    },
  },
]
