import type { VerdictDigest } from '../../proto/index.js'
import { offerGroup, type ShardMember, TransportError } from '../../swarm/index.js'
import type { PendingGroup } from '../store/store.js'
import { createVerdictIntake, type VerdictIntakeParts } from './verdict-intake.js'

/** Interval between two looks at the groups without a verdict. */
const TURN_MS = 1000
/** Turns before a fresh group is offered: at least one full turn. */
const FRESH_TURNS = 2
/** Bound on the turns between two offers of a group, which double: the verdict on an audited group may take minutes. */
const MOST_TURNS = 8
const REQUEST_TIMEOUT_MS = 10_000

/** Refusals of an announcement after which another offer is pointless. */
const FINAL = new Set([
  'unknown_lease',
  'lease_owner',
  'lease_expired',
  'replayed',
  'wrong_policy',
  'wrong_group_size',
  'body_mismatch',
  'malformed',
  'too_large',
  'bad_signature',
  'wrong_run',
])

/** Delivers finished groups: by gossip first, then directly until the coordinator has a verdict. */
export interface Outbox {
  /** Leases of the groups without a verdict. */
  readonly waiting: readonly string[]
  /** Keeps the group on disk, then gossips it. */
  add(group: PendingGroup): Promise<void>
  close(): Promise<void>
}

export interface OutboxParts
  extends Pick<VerdictIntakeParts, 'host' | 'coordinator' | 'store' | 'onVerdict' | 'earlierVerdicts'> {
  /** Gossip about groups. */
  readonly shard: Pick<ShardMember, 'join' | 'publish'>
  /** Receives a group that the coordinator will never accept. */
  readonly onDropped: (leaseId: string, code: string) => void
  /** Receives each verdict digest from gossip, of any node of the shard. */
  readonly onDigest?: (digest: VerdictDigest) => void
}

/** A group without a verdict. */
interface WaitingGroup {
  readonly group: PendingGroup
  /** Number of offers so far. */
  offers: number
  /** Turns until the next offer. */
  turns: number
}

/** Opens the outbox, and offers the groups of an earlier process at once. */
export async function openOutbox(parts: OutboxParts): Promise<Outbox> {
  const { host, store, coordinator, shard } = parts
  const waiting = new Map<string, WaitingGroup>()
  for (const group of await store.pending()) waiting.set(group.leaseId, { group, offers: 0, turns: 0 })
  const closing = new AbortController()
  const soon = (): AbortSignal => AbortSignal.any([closing.signal, host.clock.timeout(REQUEST_TIMEOUT_MS)])
  const logger = host.logger.child({ part: 'outbox' })
  const intake = createVerdictIntake({
    ...parts,
    isWaiting: (leaseId) => waiting.has(leaseId),
    onSettled: (leaseId) => waiting.delete(leaseId),
  })
  const offer = createOffer(parts, waiting, soon)

  const lookAfter = async (): Promise<void> => {
    await intake.takePushed()
    if (!host.isConnected(coordinator)) return
    const due = [...waiting.values()].filter(({ turns }) => turns === 0)
    if (due.length === 0 && !intake.isBehind) return
    await intake.fetch(soon)
    for (const one of due) await offer(one)
  }

  let isWoken = false
  let resume = (): void => undefined
  const wake = (): void => {
    isWoken = true
    resume()
  }
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      isWoken = false
      try {
        await lookAfter()
      } catch (error) {
        if (closing.signal.aborted) return
        logger.info({ error }, 'groups wait for their verdicts')
      }
      if (isWoken || closing.signal.aborted) continue
      await new Promise<void>((resolve) => {
        resume = resolve
      })
    }
  }
  /** Counts pauses, not times: a clock that is set back must not delay a group. */
  const count = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await host.clock.sleep(TURN_MS, closing.signal).catch(() => undefined)
      for (const one of waiting.values()) one.turns = Math.max(0, one.turns - 1)
      wake()
    }
  }
  const leave = shard.join('verdicts', {
    deliver: (digest) => {
      parts.onDigest?.(digest)
      intake.push(digest)
      wake()
    },
  })
  // A coordinator that restarted has forgotten the groups without a verdict.
  const stopListening = host.onPeer(({ peer, connected }) => {
    if (peer !== coordinator || !connected) return
    for (const [leaseId, { group, offers }] of waiting)
      if (offers > 0) waiting.set(leaseId, { group, offers: 0, turns: 0 })
    wake()
  })
  const running = Promise.all([run(), count()])

  return {
    get waiting() {
      return [...waiting.keys()]
    },
    async add(group) {
      await store.addPending(group)
      intake.expect()
      waiting.set(group.leaseId, { group, offers: 0, turns: FRESH_TURNS })
      await shard.publish(group.sealed).catch((error: unknown) => {
        logger.info({ error }, 'gossip did not take a group; the node will offer it directly')
      })
    },
    async close() {
      closing.abort(new TransportError('closed', 'the node is closing'))
      wake()
      leave()
      stopListening()
      await running
    },
  }
}

/** Returns a function that offers a group to the coordinator. A group that is refused for now delays no other one. */
function createOffer(
  { host, coordinator, store, onDropped }: OutboxParts,
  waiting: Map<string, WaitingGroup>,
  soon: () => AbortSignal,
): (one: WaitingGroup) => Promise<void> {
  const logger = host.logger.child({ part: 'outbox' })
  const drop = async (leaseId: string): Promise<void> => {
    waiting.delete(leaseId)
    await store.removePending(leaseId)
  }
  const send = async ({ leaseId, sealed }: PendingGroup): Promise<void> => {
    try {
      await offerGroup(host, coordinator, sealed, soon())
    } catch (error) {
      if (!(error instanceof TransportError) || error.refusal === null) throw error
      if (!FINAL.has(error.refusal)) {
        logger.info({ lease: leaseId, error }, 'a group is not accepted yet')
        return
      }
      await drop(leaseId)
      onDropped(leaseId, error.refusal)
    }
  }
  return async (one) => {
    const { leaseId } = one.group
    if (!waiting.has(leaseId)) return
    // A lapsed lease may be worked on twice: its second group has a verdict already, and would wait for ever.
    if (await store.verdictOn(leaseId)) return drop(leaseId)
    await send(one.group)
    one.turns = Math.min(MOST_TURNS, 2 ** one.offers)
    one.offers += 1
  }
}
