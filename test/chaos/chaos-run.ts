import { join } from 'node:path'
import type { PrivateKey } from '@libp2p/interface'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { RunReducer } from '../../coordinator/ledger/run-reducer.js'
import type { RunState } from '../../coordinator/ledger/run-state.js'
import type { RunConfig } from '../../coordinator/settings/config.js'
import type { NodeProgress } from '../../node/report/progress.js'
import { peerIdOfKey } from '../../proto/index.js'
import type { RefusalEvent } from '../../swarm/index.js'
import { smallRun } from '../support/run-config.js'
import { keyOf } from '../support/swarm-nodes.js'
import type { Violation } from './check-log.js'
import { checkMemory } from './check-memory.js'
import type { VolunteerRecord } from './check-volunteers.js'
import { runCoordinator } from './coordinator-program.js'
import { openSimStore, readLog } from './databases.js'
import type { JobTrainer } from './job-trainer.js'
import type { Machine, SimProcess } from './sim-process.js'
import { createSimulatedRun, type Mishap, type SimulatedRun } from './simulated-run.js'
import { runVolunteer } from './volunteer-program.js'

export interface ChaosSettings {
  readonly volunteers: number
  readonly config: Partial<RunConfig>
  readonly adapterBytes: number
  readonly stepMs: number
  /** The training step at which the policy has drifted away from its samplers. */
  readonly driftsAt?: number
  /** The seed that a volunteer really samples with, by its number. */
  readonly seedUsed?: (volunteer: number, seed: number) => number
}

/** A machine with a program on it that is started again whenever it has ended. */
export interface Post {
  readonly machine: Machine
  /** The life that runs now, or the last one. */
  readonly process: SimProcess | null
  /** How often it was started. */
  readonly lives: number
  /** How long it is away after it ended; null: until `start`. */
  restartMs: number | null
  /** Ends the program at once. */
  kill(): void
  start(): void
}

/** How a program ended by itself. */
export interface Exit {
  readonly machine: string
  readonly error: unknown
}

/** A whole run in one process and in virtual time: one coordinator, its volunteers, and whatever befalls them. */
export interface ChaosRun {
  readonly simulated: SimulatedRun
  readonly runId: string
  readonly coordinator: Post
  readonly volunteers: readonly Post[]
  /** Keys of all volunteers. */
  readonly peerIds: readonly string[]
  /** As the coordinator that runs now sees it; undefined while none does. */
  readonly state: RunState | undefined
  readonly trainer: JobTrainer | undefined
  readonly refusals: RefusalEvent[]
  readonly mishaps: readonly Mishap[]
  readonly exits: readonly Exit[]
  /** What a life of the coordinator knew and the next one did not. */
  readonly forgotten: readonly Violation[]
  /** What a volunteer was told last, and what it was told so far. */
  readonly stated: readonly NodeProgress[][]
  /** One more volunteer. @param keyNumber  default: a key of its own */
  recruit(keyNumber?: number): Promise<Post>
  /** Lets time pass until it is so, or throws. */
  until(what: string, ready: () => boolean, limitMs?: number): Promise<void>
  /** Lets so much time pass. */
  pass(ms: number): Promise<void>
  /** Lets time pass until the run's last version is published and its volunteers have heard of their verdicts. */
  complete(): Promise<void>
  /** The last version is published. */
  readonly finished: boolean
  /** Ends everything, and returns what is on the disks. */
  close(): Promise<Remains>
}

/** What is left of a run. */
export interface Remains {
  readonly events: readonly RunEvent[]
  readonly volunteers: readonly VolunteerRecord[]
}

/** Longest a run may take: with every fault in the book it is over in a fraction of this. */
const LIMIT_MS = 1_800_000
/** A program that ends so often will do so for ever. */
const MOST_EXITS = 60

export async function openChaosRun(seed: number, settings: ChaosSettings): Promise<ChaosRun> {
  const simulated = await createSimulatedRun(seed)
  const { time, mishaps } = simulated
  const key = await keyOf(1)
  const runId = peerIdOfKey(key)
  const config = smallRun({ groupSize: 3, rounds: { registrationMs: 2000 }, ...settings.config })
  const refusals: RefusalEvent[] = []
  const exits: Exit[] = []
  const volunteers: Post[] = []
  const peerIds: string[] = []
  const stated: NodeProgress[][] = []
  const forgotten: Violation[] = []
  let running: { readonly process: SimProcess; readonly state: RunState; readonly trainer: JobTrainer } | null = null
  let finished = false

  const post = async (
    machine: Machine,
    restartMs: number,
    run: (process: SimProcess) => Promise<void>,
  ): Promise<Post> => {
    let process: SimProcess | null = null
    let lives = 0
    let starting = false
    const launch = async (): Promise<void> => {
      if (starting || process?.alive) return
      starting = true
      const life = await simulated.start(machine)
      process = life
      starting = false
      lives += 1
      life.onKill(() => {
        if (made.restartMs !== null) time.after(made.restartMs, () => void launch())
      })
      await run(life).catch((error: unknown) => {
        if (!life.alive) return
        exits.push({ machine: machine.name, error })
        life.kill()
      })
    }
    const made: Post = {
      machine,
      restartMs,
      get process() {
        return process
      },
      get lives() {
        return lives
      },
      kill: () => process?.kill(),
      start: () => void launch(),
    }
    made.start()
    return made
  }

  const enlist = async (volunteerKey: PrivateKey, number: number): Promise<Post> => {
    const { seedUsed } = settings
    const peerId = peerIdOfKey(volunteerKey)
    const neighbours = peerIds.slice(-1)
    const understood: NodeProgress[] = []
    peerIds.push(peerId)
    stated.push(understood)
    const machine = await simulated.machine(`volunteer-${number}`)
    const made = await post(machine, 2000, (process) =>
      runVolunteer(simulated, process, {
        ...{ key: volunteerKey, peerId, runId, neighbours },
        onProgress: (progress) => understood.push(progress),
        ...(seedUsed ? { seedUsed: (used: number) => seedUsed(number, used) } : {}),
      }),
    )
    volunteers.push(made)
    return made
  }

  const run: ChaosRun = {
    ...{ simulated, runId, volunteers, peerIds, refusals, mishaps, exits, forgotten, stated },
    coordinator: await post(await simulated.machine('coordinator'), 1000, async (process) => {
      await runCoordinator(simulated, process, {
        ...{ config, key, peerId: runId, adapterBytes: settings.adapterBytes, stepMs: settings.stepMs },
        // So few that the number of shards changes as volunteers come and go.
        shardNodes: 1,
        driftsAt: settings.driftsAt ?? null,
        onRefusal: (refusal) => {
          refusals.push(refusal)
          simulated.blow(`refused as ${refusal.code}`)
        },
        onStarted: (parts) => {
          if (running) forgotten.push(...checkMemory(running.state, parts.state))
          running = { process, ...parts }
        },
      })
      finished = true
    }),
    get state() {
      return running?.process.alive ? running.state : undefined
    },
    get trainer() {
      return running?.process.alive ? running.trainer : undefined
    },
    get finished() {
      return finished
    },
    async recruit(keyNumber) {
      const number = volunteers.length + 1
      return enlist(await keyOf(keyNumber ?? 100 + number), number)
    },
    async until(what, ready, limitMs = LIMIT_MS) {
      const isHopeless = (): boolean => exits.length > MOST_EXITS
      try {
        await time.drive(() => ready() || isHopeless(), limitMs)
      } catch (cause) {
        throw new Error(`${what}: ${(cause as Error).message}`, { cause })
      }
      if (isHopeless()) throw new Error(`${what}: programs end again and again`)
    },
    async pass(ms) {
      let over = false
      time.after(ms, () => {
        over = true
      })
      await time.drive(() => over, ms + 1)
    },
    async complete() {
      await run.until('the last version', () => finished)
      // Groups that were under way, and the news of their verdicts.
      await run.pass(30_000)
    },
    async close() {
      for (const one of [run.coordinator, ...volunteers]) {
        one.restartMs = null
        one.machine.faultAt = () => null
        one.machine.diskMs = () => 0
        one.kill()
      }
      try {
        await simulated.underway.quiet()
        await simulated.start(run.coordinator.machine)
        const events = await readLog(simulated, join(run.coordinator.machine.folder, 'log'))
        const read = new RunReducer()
        for (const event of events) read.apply(event)
        if (running) forgotten.push(...checkMemory(running.state, read))
        const records: VolunteerRecord[] = []
        for (const [i, { machine }] of volunteers.entries()) {
          const process = await simulated.start(machine)
          const store = await openSimStore(simulated, process, join(machine.folder, 'store'), runId)
          const understood = stated[i]!
          records.push({
            node: peerIds[i]!,
            verdicts: await store.verdicts(),
            waiting: (await store.pending()).map(({ leaseId }) => leaseId),
            finished: understood.flatMap((news) => (news.type === 'group' ? [news.leaseId] : [])),
            dropped: understood.flatMap((news) => (news.type === 'dropped' ? [news.leaseId] : [])),
          })
          await store.close()
        }
        return { events, volunteers: records }
      } finally {
        await simulated.close()
      }
    },
  }
  for (let i = 0; i < settings.volunteers; i++) await run.recruit()
  return run
}
