import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { RunReducer } from '../../coordinator/ledger/run-reducer.js'
import type { Lease } from '../../proto/index.js'
import { type Engine, type EngineProcess, openEngine } from '../../rollout/engine/index.js'
import { type EpisodeRuntime, parseTask, type Rollout, runGroup, type Task } from '../../rollout/episode/index.js'
import { TransportError } from '../../swarm/index.js'
import { patience } from '../support/patience.js'
import { type ArenaRun, GROUP_SIZE, LIMITS_OF_RUN, startArenaRun } from './arena-run.js'
import { cpuMsOf, memoryBytesOf } from './cpu-clock.js'
import type { PackedGroup, Work } from './group-work.js'
import { createHonestCrowd, type HonestCrowd } from './honest-crowd.js'
import { openParticipant, type Participant } from './participant.js'
import { openPolicies, type Policies, type Policy } from './policies.js'

/** What the coordinator made of a group. */
export interface Outcome {
  readonly accepted: boolean
  /** `null` when it was accepted; the code of the receipt when there was no verdict at all. */
  readonly code: string | null
  readonly detail: string
}

/** Where attacks are carried out: a run with its coordinator, one engine for everybody, and honest volunteers. */
export interface Arena {
  readonly run: ArenaRun
  readonly runtime: EpisodeRuntime
  readonly policies: Policies
  readonly honest: HonestCrowd
  /** All that the coordinator has recorded so far. */
  state(): RunReducer
  /** A fresh private key, the same for the same seed of the arena. */
  newKey(): Promise<PrivateKey>
  /** A participant that the coordinator knows; the caller closes it. */
  recruit(): Promise<Participant>
  /** Leases for a participant, as soon as there are any. @throws when there are none for long */
  work(node: Participant, count: number, signal: AbortSignal): Promise<Work[]>
  /** The shared engine, under this policy; null: the bare base. */
  engine(policy: Policy | null, signal: AbortSignal): Promise<Engine>
  /** A group as an honest node makes it. */
  rollouts(work: Work, signal: AbortSignal): Promise<Rollout[]>
  /** Hands a group over and waits for what becomes of it. */
  handOver(work: Pick<Work, 'node'>, group: PackedGroup): Promise<Outcome>
  /** CPU time of the coordinator and its audits, in milliseconds. */
  cpuMs(): number
  memoryBytes(): number
  close(): Promise<void>
}

/** Registered keys that wait for their turn. */
const RESERVE = 4
/** The coordinator takes five connections a second from one address. */
const DIAL_PAUSE_MS = 250
const PAUSE_MS = 100

export interface ArenaOptions {
  /** Fixes the keys of all participants. */
  readonly seed: number
  /** Calibration of the demo model to judge by. */
  readonly calibration: string
}

export async function openArena({ seed, calibration }: ArenaOptions): Promise<Arena> {
  const run = await startArenaRun(calibration)
  const { coordinator, runtime } = run
  const cleanUps: (() => Promise<unknown>)[] = [() => run.close()]
  const close = async (): Promise<void> => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  }
  let keys = 0
  const newKey = (): Promise<PrivateKey> => {
    keys += 1
    const bytes = createHash('sha256').update(`attackers ${seed} ${keys}`).digest()
    return generateKeyPairFromSeed('Ed25519', bytes)
  }
  try {
    const engine: EngineProcess = await openEngine({
      modelPath: run.model,
      threads: 1,
      contextSize: LIMITS_OF_RUN.maxRolloutTokens,
      slots: GROUP_SIZE,
      gpu: false,
    })
    cleanUps.push(() => engine.close())
    const observer = await openParticipant(run, await newKey())
    cleanUps.push(() => observer.close())
    const policies = await openPolicies(observer.host, join(run.machine.folder, 'blobs'))
    cleanUps.push(() => policies.close())

    const reducer = new RunReducer()
    let read = 0
    const state = (): RunReducer => {
      for (; read < coordinator.lines.length; read++) {
        const line = coordinator.lines[read]!
        if (line.type === 'event') reducer.apply(line.event as RunEvent)
      }
      return reducer
    }

    const reserve: Participant[] = []
    let filling: Promise<void> | null = null
    const fill = async (): Promise<void> => {
      const { policyId } = await policies.newest(patience())
      while (reserve.length < RESERVE) {
        const node = await openParticipant(run, await newKey())
        try {
          // A key is known from its first question on.
          const { leases } = await node.ask(policyId)
          await node.giveBack(leases)
        } catch (error) {
          await node.close()
          throw error
        }
        reserve.push(node)
        await sleep(DIAL_PAUSE_MS)
      }
    }
    const refill = (): Promise<void> => {
      filling ??= fill().finally(() => {
        filling = null
      })
      return filling
    }
    cleanUps.push(async () => {
      await filling?.catch(() => undefined)
      for (const node of reserve) await node.close()
    })

    const policyOf = async (policyId: string, signal: AbortSignal): Promise<Policy> => {
      const known = policies.seen.find((policy) => policy.policyId === policyId)
      return known ?? policies.newest(signal)
    }

    const arena: Arena = {
      run,
      runtime,
      policies,
      honest: createHonestCrowd(() => arena),
      state,
      newKey,
      async recruit() {
        while (reserve.length === 0) await refill()
        const node = reserve.shift()!
        // What goes wrong there is met again by whoever waits for it.
        if (reserve.length === 0) refill().catch(() => undefined)
        return node
      },
      async work(node, count, signal) {
        for (const patient = patience(); ; ) {
          const { policyId } = await policies.newest(signal)
          const { leases, reason } = await node.ask(policyId, { count })
          if (leases.length > 0)
            return Promise.all(leases.map(async (lease) => workOn(node, lease, await policyOf(lease.policyId, signal))))
          if (patient.aborted) throw new Error(`no lease: ${reason}`)
          await sleep(PAUSE_MS, undefined, { signal })
        }
      },
      async engine(policy, signal) {
        await engine.usePolicy(policy?.adapter ?? null, signal)
        return engine
      },
      async rollouts({ task, seed: leaseSeed, policy }, signal) {
        const sampler = await arena.engine(policy, signal)
        return runGroup(task, GROUP_SIZE, leaseSeed, sampler, runtime, LIMITS_OF_RUN, signal)
      },
      async handOver({ node }, { leaseId, sealed }) {
        try {
          await node.offer(sealed)
        } catch (error) {
          if (!(error instanceof TransportError) || error.refusal === null) throw error
          return { accepted: false, code: error.refusal, detail: error.detail }
        }
        await coordinator.until('the verdict', ({ type, event }) => {
          return type === 'event' && (event as RunEvent).type === 'judged' && (event as Judged).leaseId === leaseId
        })
        const { accepted, code, detail } = state().judged.get(leaseId)!
        return { accepted, code, detail }
      },
      cpuMs: () => cpuMsOf(coordinator.pid, '--audits'),
      memoryBytes: () => memoryBytesOf(coordinator.pid),
      close,
    }
    cleanUps.push(() => arena.honest.close())
    return arena
  } catch (error) {
    await close()
    throw error
  }
}

type Judged = Extract<RunEvent, { type: 'judged' }>

function workOn(node: Participant, lease: Lease, policy: Policy): Work {
  const task: Task = parseTask(JSON.parse(new TextDecoder().decode(lease.task)))
  return { node, lease, task, seed: Buffer.from(lease.seed, 'hex'), policy }
}
