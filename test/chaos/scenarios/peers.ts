import { attack, hostilePeer } from '../hostile.js'
import { meanwhile, type Scenario } from './scenario.js'

/** A volunteer's groups are refused, and none of them is trained on. @param volunteer  its place in the list */
const nothingTrainedOf =
  (volunteer: number): NonNullable<Scenario['check']> =>
  (events, peerIds) => {
    const verdicts = events.flatMap((event) =>
      event.type === 'judged' && event.node === peerIds[volunteer] ? [event] : [],
    )
    const batched = new Set(events.flatMap((event) => (event.type === 'batched' ? event.leaseIds : [])))
    const trained = verdicts.filter(({ leaseId }) => batched.has(leaseId))
    return [
      ...trained.map(({ leaseId }) => `a liar's group is trained on: ${leaseId}`),
      ...(verdicts.some(({ code }) => code === 'sampler_mismatch') ? [] : ['the liar was not caught']),
    ]
  }

/** Hostile messages of one run. */
const MESSAGES = 1000

export const PEERS: readonly Scenario[] = [
  {
    name: 'one-key-twice',
    about: 'two machines work under one key at the same time',
    async befall(run) {
      run.simulated.blow('second machine')
      await run.recruit(101)
      await run.recruit(102)
    },
  },
  {
    name: 'late-comers',
    about: 'volunteers join while the run is under way',
    async befall(run, random) {
      for (let times = 0; times < 3; times++) {
        if (!(await meanwhile(run, 'a moment', () => run.state !== undefined))) return
        await run.pass(random.int(1000, 9000))
        await run.recruit()
        run.simulated.blow('joined')
      }
    },
  },
  {
    name: 'liar',
    about: 'a volunteer samples from other seeds than its leases say',
    settings: { seedUsed: (volunteer, seed) => (volunteer === 1 ? (seed * 7 + 1) % 2 ** 32 : seed) },
    befall: async () => undefined,
    check: nothingTrainedOf(0),
  },
  {
    name: 'hostile',
    about: `${MESSAGES} hostile messages of every kind`,
    async befall(run, random) {
      const peers = []
      for (let number = 1; number <= 3; number++) peers.push(await hostilePeer(run, number))
      await attack(run, peers, MESSAGES, random)
    },
  },
]
