import { meanwhile, type Scenario } from './scenario.js'

const MIB = 1024 * 1024

export const NETWORK: readonly Scenario[] = [
  {
    name: 'partition',
    about: 'some volunteers, or all of them, lose the coordinator for seconds or minutes',
    async befall(run, random) {
      const machines = run.volunteers.map(({ machine }) => machine.name)
      for (let times = 0; times < 4 && !run.finished; times++) {
        await run.pass(random.int(1000, 12_000))
        run.simulated.network.partition(random.sample(machines, random.int(1, machines.length)))
        await run.pass(random.pick([2000, 20_000, 70_000]))
        run.simulated.network.heal()
      }
    },
  },
  {
    name: 'lossy',
    about: 'connections break at any piece of data',
    async befall(run) {
      run.simulated.network.everywhere({ breaks: 0.03, jitterMs: 200 })
    },
  },
  {
    name: 'gossip',
    about: 'gossip is lost, late and out of order',
    async befall(run) {
      run.simulated.network.everywhere({ gossipLoss: 0.5, gossipReorderMs: 4000, delayMs: 100 })
    },
  },
  {
    name: 'stalled-provider',
    about: 'whoever delivers adapters falls silent without closing anything',
    settings: { adapterBytes: 3 * MIB - 5 },
    async befall(run, random) {
      run.simulated.network.everywhere({ bytesPerSecond: 2 * MIB })
      for (let times = 0; times < 3; times++) {
        const version = run.state?.current?.version ?? -1
        const next = (): boolean => (run.state?.current?.version ?? -1) > version
        if (!(await meanwhile(run, 'a publication', next))) break
        await run.pass(random.int(0, 2000))
        run.simulated.network.stall(random.pick(['coordinator', ...run.volunteers.map(({ machine }) => machine.name)]))
        await run.pass(random.int(5000, 40_000))
        run.simulated.network.heal()
      }
    },
  },
  {
    name: 'clock-jumps',
    about: 'the clocks of the coordinator and of volunteers jump by seconds, minutes or hours, forwards and backwards',
    async befall(run, random) {
      const machines = [run.coordinator.machine, ...run.volunteers.map(({ machine }) => machine)]
      // Lost gossip makes volunteers wait for the moment to hand a group over themselves.
      run.simulated.network.everywhere({ gossipLoss: 0.7 })
      for (let times = 0; times < 8 && !run.finished; times++) {
        await run.pass(random.int(500, times === 0 ? 2500 : 6000))
        random.pick(machines).clockOffsetMs += random.pick([-7_200_000, -3000, -90_000, 4000, 120_000, 3_600_000])
        run.simulated.blow('clock set')
      }
    },
  },
]
