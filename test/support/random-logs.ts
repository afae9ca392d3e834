import * as fc from 'fast-check'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import type { LeaseRecord } from '../../coordinator/ledger/run-state.js'
import { LIMITS } from '../../proto/index.js'
import {
  audited,
  batched,
  batchRefused,
  type EventOf,
  judged,
  leased,
  published,
  released,
  reopened,
  trained,
} from './run-events.js'

/** Address blocks of lease requests; null: unknown. */
const BLOCKS = ['ip4/0', 'ip4/1', null]
const NODES = ['ann', 'ben', 'cleo', 'dora']

const DOINGS = {
  lease: 8,
  judge: 6,
  release: 3,
  renew: 2,
  audit: 2,
  publish: 2,
  batch: 2,
  train: 2,
  reopen: 1,
  'roll back': 1,
} as const
type Doing = keyof typeof DOINGS

const OUTCOMES = {
  useful: {},
  'useful and audited': { audit: 'passed' },
  zeroVariance: { zeroVariance: true, completions: ['0'.repeat(16)] },
  unseen: { zeroVariance: true, rewards: [0, 0] },
  late: { accepted: false, code: 'stale_policy', credit: 0 },
  lie: { accepted: false, code: 'reward_mismatch', credit: 0 },
  doubtful: { accepted: false, code: 'logprob_mismatch', credit: 0, audit: 'failed' },
} as const satisfies Record<string, Partial<EventOf<'judged'>>>

const move = fc.record({
  doing: fc.oneof(
    ...Object.entries(DOINGS).map(([doing, weight]) => ({ weight, arbitrary: fc.constant(doing as Doing) })),
  ),
  node: fc.nat({ max: NODES.length - 1 }),
  pick: fc.nat(),
  outcome: fc.constantFrom(...(Object.keys(OUTCOMES) as (keyof typeof OUTCOMES)[])),
})
type Move = typeof move extends fc.Arbitrary<infer T> ? T : never

/** Writes events that a coordinator could have written. */
function writeLog(moves: readonly Move[]): RunEvent[] {
  const log: RunEvent[] = [published(0)]
  const open: LeaseRecord[] = []
  const left: LeaseRecord[] = []
  const groups: EventOf<'judged'>[] = []
  let [version, round, step, number] = [0, 0, 0, 0]
  let atMs = 1000
  let pending: string | null = null
  const indices = new Map<string, number>()
  const take = <T>(from: T[], pick: number): T | undefined => from.splice(pick % Math.max(1, from.length), 1)[0]
  const isTooOld = (made: { readonly version: number }): boolean => version - made.version > LIMITS.staleness.value
  const put = (event: RunEvent): void => void log.push({ ...event, atMs })
  const does: Record<Doing, (one: Move) => void> = {
    lease({ node, pick }) {
      const owed = left.findIndex((lease) => lease.node === NODES[node] && lease.version === version)
      const name = `${node} ${round}`
      const index = indices.get(name) ?? 0
      const again = owed < 0 ? undefined : left.splice(owed, 1)[0]
      if (!again) indices.set(name, index + 1)
      const place = { round, index, taskIndex: pick % 3 }
      const lease = again ?? leased(`lease-${number++}`, NODES[node]!, version, place)
      const addressBlock = BLOCKS[pick % BLOCKS.length]!
      const given = { ...lease, addressBlock, atMs, deadlineMs: atMs + 500 + (pick % 7) }
      open.push(given)
      put(given)
    },
    judge({ pick, outcome }) {
      const lease = take(pick % 5 === 0 ? left : open, pick)
      if (!lease) return
      const said = isTooOld(lease) ? OUTCOMES.late : OUTCOMES[outcome]
      const group = judged(lease.leaseId, lease.node, lease.version, said)
      groups.push(group)
      put(group)
    },
    release({ pick }) {
      const lease = take(open, pick)
      if (!lease) return
      left.push(lease)
      put(released(lease.leaseId))
    },
    renew({ pick }) {
      const lease = open[pick % Math.max(1, open.length)]
      if (lease) put({ type: 'renewed', atMs, leaseId: lease.leaseId, deadlineMs: atMs + 700 + (pick % 300) })
    },
    audit({ pick, outcome }) {
      const group = groups[pick % Math.max(1, groups.length)]
      if (group?.accepted && group.audit === 'none' && !group.zeroVariance && !isTooOld(group) && take(groups, pick))
        put(audited(group.leaseId, group.node, outcome === 'lie' ? 'sampler_mismatch' : null, atMs))
    },
    publish() {
      version += 1
      round += 1
      put(published(version, { round, adapterStep: version }))
    },
    'roll back'({ pick }) {
      version += 1
      round += 1
      put(published(version, { round, adapterStep: pick % version }))
    },
    reopen() {
      round += 1
      put(reopened(round, version))
    },
    batch({ pick }) {
      if (pending !== null) return
      const ready = groups.filter((group) => group.accepted && !group.zeroVariance && !isTooOld(group))
      const chosen = ready.slice(0, 1 + (pick % 3))
      if (chosen.length === 0) return
      for (const group of chosen) groups.splice(groups.indexOf(group), 1)
      pending = `batch-${number++}`
      const leaseIds = chosen.map(({ leaseId }) => leaseId)
      put(batched(pending, step + 1, leaseIds))
    },
    train({ pick }) {
      if (pending === null) return
      put(pick % 4 === 0 ? batchRefused(pending) : trained(pending, ++step))
      pending = null
    },
  }
  for (const one of moves) {
    atMs += one.pick % 50
    does[one.doing](one)
  }
  return log
}

/** Generates logs of runs with renewed, abandoned and resumed leases, false claims, audits, and rollbacks. */
export const randomLogs: fc.Arbitrary<RunEvent[]> = fc.array(move, { maxLength: 240, size: 'max' }).map(writeLog)
