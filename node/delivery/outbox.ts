import { openVerdictDigest, refusal, type Verdict, type VerdictDigest } from '../../proto/index.js'
import { channelsOf, offerGroup, requestVerdicts, type SwarmHost, TransportError } from '../../swarm/index.js'
import type { NodeStore, PendingGroup } from '../store/store.js'

/** How often groups without a verdict are looked after. */
const TURN_MS = 1000
/** Turns before a fresh group is offered: at least one goes by as a whole. */
const FRESH_TURNS = 2
/** Turns between two offers of a group, which double with each: the verdict on one that is audited may take minutes. */
const MOST_TURNS = 8
/** Digests that gossip brought and that are not yet on record; more are asked for. */
const MOST_PUSHED = 16
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

/** A group on its way to its verdict. */
interface WaitingGroup {
  readonly group: PendingGroup
  /** How often it was offered, and turns until it is offered again. */
  offers: number
  turns: number
}

export async function openOutbox(parts: OutboxParts): Promise<Outbox> {
  const { host, coordinator, store, onVerdict, onDropped, earlierVerdicts = EARLIER_VERDICTS } = parts
  const logger = host.logger.child({ part: 'outbox' })
  const closing = new AbortController()
  const channel = channelsOf(host.runId).groups
  const waiting = new Map<string, WaitingGroup>()
  // Those from before a restart are offered at once; fresh ones only when gossip brought no verdict for a whole turn.
  for (const group of await store.pending()) waiting.set(group.leaseId, { group, offers: 0, turns: 0 })
  /** The node's own verdicts as gossip brought them. */
  const pushed: VerdictDigest[] = []
  /** Whether there are verdicts that gossip did not bring. */
  let behind = false
  /** Verdicts on record that no group asked for, less one for each group: an audit may speak on it again. */
  let unasked = 0

  const drop = async (leaseId: string): Promise<void> => {
    waiting.delete(leaseId)
    await store.removePending(leaseId)
  }

  /** @returns  how many verdicts of it were new */
  const takeDigest = async ({ peerId, fromCursor, verdicts }: VerdictDigest): Promise<number> => {
    if (peerId !== host.peerId) return 0
    // Each is kept for good: a coordinator that invents them must not fill the disk.
    const known = await store.verdictCount()
    const foreign = verdicts
      .slice(Math.max(0, known - fromCursor))
      .filter(({ leaseId }) => !waiting.has(leaseId)).length
    if (unasked + foreign > earlierVerdicts)
      throw refusal('rate_limited', `more than ${earlierVerdicts} verdicts on groups that were not sent`)
    const before = new Map<string, Verdict | null>()
    for (const { leaseId } of verdicts) before.set(leaseId, await store.verdictOn(leaseId))
    const fresh = await store.addVerdicts(fromCursor, verdicts)
    unasked += foreign
    for (const { leaseId } of verdicts) waiting.delete(leaseId)
    for (const verdict of fresh) {
      onVerdict(verdict, before.get(verdict.leaseId) ?? null)
      before.set(verdict.leaseId, verdict)
    }
    return fresh.length
  }

  /** Takes what gossip brought, in the order of the node's own list; a gap means that something was lost, which the coordinator may still have. */
  const takePushed = async (): Promise<void> => {
    for (let digest = pushed.shift(); digest; digest = pushed.shift()) {
      if (digest.fromCursor > (await store.verdictCount())) behind = true
      else await takeDigest(digest)
    }
  }

  const askForVerdicts = async (): Promise<void> => {
    for (let more = true; more; ) {
      const signal = AbortSignal.any([closing.signal, host.clock.timeout(REQUEST_TIMEOUT_MS)])
      const cursor = await store.verdictCount()
      const page = await requestVerdicts(host, coordinator, { cursor, max: PAGE }, signal)
      // A coordinator that always promises more, and brings nothing new, would keep the node asking without a pause.
      more = (await takeDigest(await openVerdictDigest(page.digest, host.runId))) > 0 && page.more
    }
    behind = false
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
        logger.info({ lease: group.leaseId, error }, 'a group is not taken yet')
        return
      }
      await drop(group.leaseId)
      onDropped(group.leaseId, error.refusal)
    }
  }

  const lookAfter = async (): Promise<void> => {
    await takePushed()
    if (!host.isConnected(coordinator)) return
    const due = [...waiting.values()].filter(({ turns }) => turns === 0)
    if (due.length === 0 && !behind) return
    await askForVerdicts()
    for (const one of due) {
      const { leaseId } = one.group
      if (!waiting.has(leaseId)) continue
      // A lease that lapsed may be worked on twice: its second group has had its verdict, and would wait for ever.
      if (await store.verdictOn(leaseId)) {
        await drop(leaseId)
        continue
      }
      await offer(one.group)
      one.turns = Math.min(MOST_TURNS, 2 ** one.offers)
      one.offers += 1
    }
  }

  let woken = false
  let resume = (): void => undefined
  const wake = (): void => {
    woken = true
    resume()
  }
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      woken = false
      try {
        await lookAfter()
      } catch (error) {
        if (closing.signal.aborted) return
        logger.info({ error }, 'groups wait for their verdicts')
      }
      if (woken || closing.signal.aborted) continue
      await new Promise<void>((resolve) => {
        resume = resolve
      })
    }
  }
  /** By waiting, not by what the clock shows: one that is set back must not keep a group here. */
  const count = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await host.clock.sleep(TURN_MS, closing.signal).catch(() => undefined)
      for (const one of waiting.values()) one.turns = Math.max(0, one.turns - 1)
      wake()
    }
  }
  const leave = host.gossip.join(channelsOf(host.runId).verdicts, {
    deliver: (digest) => {
      if (digest.peerId !== host.peerId) return
      if (pushed.length < MOST_PUSHED) pushed.push(digest)
      else behind = true
      wake()
    },
  })
  // A coordinator that was away has forgotten what it had not judged.
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
      unasked -= 1
      waiting.set(group.leaseId, { group, offers: 0, turns: FRESH_TURNS })
      await host.gossip.publish(channel, group.sealed).catch((error: unknown) => {
        logger.info({ error }, 'gossip did not take a group; it will be handed over directly')
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
