import { openVerdictDigest, refusal, type Verdict } from '../proto/index.js'
import { channelsOf, offerGroup, requestVerdicts, type SwarmHost, TransportError } from '../swarm/index.js'
import type { NodeStore, PendingGroup } from './store.js'

/** How often groups without a verdict are looked after. */
const TURN_MS = 1000
const REQUEST_TIMEOUT_MS = 10_000
const PAGE = 64
/** Verdicts on groups that an earlier process has sent, which may be those of a key's whole life: some 100 MB. */
const EARLIER_VERDICTS = 250_000

/** Refusals of an announcement after which offering it again is pointless. */
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

/** Carries finished groups to their verdicts: gossip first, then handed over directly until the coordinator answers. */
export interface Outbox {
  /** Leases of groups that wait for their verdict. */
  readonly waiting: readonly string[]
  /** Keeps the group on disk, then gossips it. */
  add(group: PendingGroup): Promise<void>
  close(): Promise<void>
}

export interface OutboxParts {
  readonly host: SwarmHost
  readonly coordinator: string
  readonly store: NodeStore
  /** @param earlier  the verdict on the same lease that this one replaces: an audit spoke later */
  readonly onVerdict: (verdict: Verdict, earlier: Verdict | null) => void
  /** An announcement the coordinator will never take. */
  readonly onDropped: (leaseId: string, code: string) => void
  /** Verdicts that are taken on groups which this process has not sent. Default: enough for the whole life of a key. */
  readonly earlierVerdicts?: number
}

export async function openOutbox(parts: OutboxParts): Promise<Outbox> {
  const { host, coordinator, store, onVerdict, onDropped, earlierVerdicts = EARLIER_VERDICTS } = parts
  const closing = new AbortController()
  const waiting = new Map((await store.pending()).map((group) => [group.leaseId, { group, announcedAt: 0 }]))
  const channel = channelsOf(host.runId).groups
  /** Verdicts on record that no group asked for, less one for each group: an audit may speak on it again. */
  let unasked = 0

  const drop = async (leaseId: string): Promise<void> => {
    waiting.delete(leaseId)
    await store.removePending(leaseId)
  }

  /** @returns  how many verdicts of it were new */
  const takeDigest = async (digest: Uint8Array): Promise<number> => {
    const { peerId, fromCursor, verdicts } = await openVerdictDigest(digest, host.runId)
    if (peerId !== host.peerId) return 0
    // Each is kept for good: a coordinator that invents them must not fill the disk.
    const foreign = verdicts.filter(({ leaseId }) => !waiting.has(leaseId)).length
    if (unasked + foreign > earlierVerdicts)
      throw refusal('rate_limited', `more than ${earlierVerdicts} verdicts on groups that were not sent`)
    unasked += foreign
    const before = new Map<string, Verdict | null>()
    for (const { leaseId } of verdicts) before.set(leaseId, await store.verdictOn(leaseId))
    const fresh = await store.addVerdicts(fromCursor, verdicts)
    for (const { leaseId } of verdicts) waiting.delete(leaseId)
    for (const verdict of fresh) {
      onVerdict(verdict, before.get(verdict.leaseId) ?? null)
      before.set(verdict.leaseId, verdict)
    }
    return fresh.length
  }

  const askForVerdicts = async (): Promise<void> => {
    for (let more = true; more; ) {
      const signal = AbortSignal.any([closing.signal, host.clock.timeout(REQUEST_TIMEOUT_MS)])
      const cursor = await store.verdictCount()
      const page = await requestVerdicts(host, coordinator, { cursor, max: PAGE }, signal)
      // A coordinator that always promises more, and brings nothing new, would keep the node asking without a pause.
      more = (await takeDigest(page.digest)) > 0 && page.more
    }
  }

  /** A group that the coordinator does not take now is offered again; it holds up no other. */
  const offer = async (group: PendingGroup): Promise<void> => {
    try {
      await offerGroup(
        host,
        coordinator,
        group.sealed,
        AbortSignal.any([closing.signal, host.clock.timeout(REQUEST_TIMEOUT_MS)]),
      )
    } catch (error) {
      if (!(error instanceof TransportError) || error.refusal === null) throw error
      if (!FINAL.has(error.refusal)) {
        host.logger.info({ lease: group.leaseId, error }, 'a group is not taken yet')
        return
      }
      await drop(group.leaseId)
      onDropped(group.leaseId, error.refusal)
    }
  }

  /** Groups from before a restart are offered at once; fresh ones only when gossip brought no verdict for a whole turn. */
  const lookAfter = async (): Promise<void> => {
    if (waiting.size === 0 || !host.isConnected(coordinator)) return
    await askForVerdicts()
    for (const { group, announcedAt } of [...waiting.values()]) {
      // A lease that lapsed may be worked on twice: its second group has had its verdict, and would wait for ever.
      if (await store.verdictOn(group.leaseId)) {
        await drop(group.leaseId)
        continue
      }
      const ageMs = host.clock.now() - announcedAt
      // A clock that was set back must not keep a group here until it has caught up.
      if (ageMs >= TURN_MS || ageMs < 0) await offer(group)
    }
  }

  let pause = new AbortController()
  const wake = (): void => pause.abort()
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      pause = new AbortController()
      try {
        await lookAfter()
      } catch (error) {
        if (closing.signal.aborted) return
        host.logger.info({ error }, 'groups wait for their verdicts')
      }
      await host.clock.sleep(TURN_MS, pause.signal).catch(() => undefined)
    }
  }
  // Gossip tells that there are verdicts; they are taken in the order of the node's own list, on request.
  const leave = host.gossip.join(channelsOf(host.runId).verdicts, {
    deliver: ({ peerId }) => {
      if (peerId === host.peerId) wake()
    },
  })
  const running = run()

  return {
    get waiting() {
      return [...waiting.keys()]
    },
    async add(group) {
      await store.addPending(group)
      unasked -= 1
      waiting.set(group.leaseId, { group, announcedAt: host.clock.now() })
      await host.gossip.publish(channel, group.sealed).catch((error: unknown) => {
        host.logger.info({ error }, 'gossip did not take a group; it will be handed over directly')
      })
    },
    async close() {
      closing.abort(new TransportError('closed', 'the node is closing'))
      wake()
      leave()
      await running
    },
  }
}
