import { type SeededRandom, seededRandom } from '../../../servers/kernel/index.js'
import type { ChaosRun } from '../chaos-run.js'
import { attack, hostilePeer } from '../hostile.js'
import { sometimes } from '../sim-process.js'
import { CRASHES } from './crashes.js'
import { DAMAGES } from './damages.js'
import { DISKS } from './disks.js'
import { NETWORK } from './network.js'
import { PEERS } from './peers.js'
import type { Scenario } from './scenario.js'

export type { Scenario } from './scenario.js'

/** What takes a moment. */
const MISFORTUNES: readonly ((run: ChaosRun, random: SeededRandom) => void)[] = [
  (run) => run.trainer?.crash(),
  (run) => run.coordinator.kill(),
  (run, random) => random.pick(run.volunteers).kill(),
  (run, random) => run.simulated.network.partition([random.pick(run.volunteers).machine.name]),
  (run, random) => run.simulated.network.stall(random.pick(run.volunteers).machine.name),
  (run) => run.simulated.network.heal(),
  (run, random) => {
    random.pick([run.coordinator, ...run.volunteers]).machine.clockOffsetMs += random.int(-100_000, 100_000)
  },
]

const named = (name: string): Scenario => [...CRASHES, ...NETWORK, ...DISKS, ...PEERS].find((one) => one.name === name)!

export const SCENARIOS: readonly Scenario[] = [
  { name: 'calm', about: 'nothing happens', befall: async () => undefined },
  ...CRASHES,
  ...NETWORK,
  ...DISKS,
  ...DAMAGES,
  ...PEERS,
  {
    name: 'everything',
    about: 'all of it at once: crashes, lost connections and messages, a liar, hostile peers, partitions, clocks',
    settings: { volunteers: 4, ...named('liar').settings },
    async befall(run, random) {
      run.simulated.network.everywhere({ breaks: 0.005, gossipLoss: 0.2, gossipReorderMs: 1000, jitterMs: 100 })
      const crashes = seededRandom(random.int(0, 2 ** 30))
      run.coordinator.machine.faultAt = sometimes(crashes, 0.002, ['crash-before', 'crash-after'])
      for (const { machine } of run.volunteers)
        machine.faultAt = sometimes(crashes, 0.002, ['crash-before', 'crash-after'])
      const peers = [await hostilePeer(run, 1), await hostilePeer(run, 2)]
      await attack(run, peers, 800, random, () => {
        if (random.chance(0.03)) random.pick(MISFORTUNES)(run, random)
      })
      run.simulated.network.heal()
    },
  },
]
