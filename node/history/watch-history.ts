import {
  LIMITS,
  openHead,
  openLeaderboard,
  openVerdictDigest,
  parseVerdictLeaf,
  rootByPath,
  SwarmRefusal,
  type Verdict,
} from '../../proto/index.js'
import {
  requestLeaderboard,
  requestVerdicts,
  type SnapshotExchange,
  type SwarmHost,
  TransportError,
} from '../../swarm/index.js'
import { totalsOf } from '../store/ledger.js'
import type { NodeStore } from '../store/store.js'
import type { HeadKeeper, HistoryAlarm } from './head-keeper.js'
import { headOfManifest, openSignedHead, type SignedHead } from './signed-head.js'

export interface HistoryParts {
  readonly host: SwarmHost
  readonly store: Pick<NodeStore, 'verdicts' | 'verdictCount'>
  readonly snapshots: Pick<SnapshotExchange, 'newest' | 'fetchManifest'>
  /** Returns neighbours that are connected. */
  readonly neighbours: () => readonly string[]
  readonly keeper: HeadKeeper
  readonly onAlarm: (alarm: HistoryAlarm) => void
  /** 0 .. 1 */
  readonly random: () => number
}

/** Interval of the checks: ten thousand nodes send some fifty questions a second. */
const INTERVAL_MS = LIMITS.leaderboardFreshMs.value
/** Credits are sums of rounded numbers. */
const SLACK = 1e-6

/** Watches the history of a run until the signal fires. A check that gets no answer is repeated at the next interval. */
export async function watchHistory(parts: HistoryParts, signal: AbortSignal): Promise<void> {
  const { host, random } = parts
  while (!signal.aborted) {
    await host.clock.sleep(INTERVAL_MS * (0.5 + random()), signal).catch(() => undefined)
    if (signal.aborted || !host.isConnected(host.runId)) continue
    await checkHistory(parts, signal).catch((error: unknown) => {
      if (!signal.aborted) host.logger.warn({ error }, 'the history of the run could not be checked')
    })
  }
}

/**
 * Compares heads with a neighbour. Asks the coordinator for an earlier head again, for the proof of an own verdict, and for the own
 * credit. Compares the answers with what this node has seen.
 */
export async function checkHistory(parts: HistoryParts, signal: AbortSignal): Promise<void> {
  for (const check of [noteHeads, confirmHead, proveVerdict, compareCredit]) {
    try {
      await check(parts, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof TransportError || error instanceof SwarmRefusal)) throw error
      parts.host.logger.debug({ error }, 'a question about the history of the run has no answer')
    }
  }
}

async function noteHeads(parts: HistoryParts, signal: AbortSignal): Promise<void> {
  const { snapshots, neighbours, keeper, random } = parts
  const own = snapshots.newest()
  if (own) await keeper.note(headOfManifest(own))
  const others = neighbours()
  const asked = others[Math.floor(random() * others.length)]
  if (asked !== undefined) await keeper.note(headOfManifest(await snapshots.fetchManifest([asked], 'newest', signal)))
}

/** Asks the coordinator for a head that this node has seen: a rewritten log has another hash at that place. */
async function confirmHead({ host, keeper, random }: HistoryParts, signal: AbortSignal): Promise<void> {
  const seen = keeper.kept[Math.floor(random() * keeper.kept.length)]
  if (!seen || seen.head.events === 0) return
  const { runId } = host
  const { head: sealed } = await requestVerdicts(host, runId, { cursor: 0, max: 1, headAt: seen.head.events }, signal)
  if (!sealed) return
  const { head, isPast } = await openHead(sealed, runId)
  const answer: SignedHead = await openSignedHead('head', sealed, runId)
  if (!isPast && head.events < seen.head.events)
    return keeper.raise({
      why: `the log had ${seen.head.events} events, and now has ${head.events}`,
      first: seen,
      second: answer,
    })
  return keeper.note(answer)
}

/** Asks for the proof of the newest accepted group. */
async function proveVerdict(parts: HistoryParts, signal: AbortSignal): Promise<void> {
  const { host, store, snapshots, keeper, onAlarm } = parts
  const verdicts = await store.verdicts()
  const own = lastVerdicts(verdicts).findLast(({ accepted }) => accepted)
  const since = snapshots.newest()?.manifest.createdAtMs ?? Number.POSITIVE_INFINITY
  // Verdicts for steps that were made long ago are no longer in memory there.
  if (!own || own.receivedAtMs < since) return
  const { runId, peerId } = host
  const { head: sealed, proof } = await requestVerdicts(
    host,
    runId,
    { cursor: 0, max: 1, proofOf: own.leaseId },
    signal,
  )
  if (!sealed || !proof) return
  const signed = await openSignedHead('head', sealed, runId)
  const { verdicts: count, verdictsRoot } = signed.head
  const leaf = parseVerdictLeaf(proof.leaf)
  const isProven = rootByPath(proof.leaf, proof.index, count, proof.path) === verdictsRoot
  if (!isProven || leaf?.leaseId !== own.leaseId || leaf.node !== peerId || leaf.bodySha256 !== own.bodySha256)
    onAlarm({ text: `the coordinator cannot prove that its log has your accepted group ${own.leaseId}`, proof: null })
  else if (leaf.credit < own.credit - SLACK)
    onAlarm({
      text: `the log gives your group ${own.leaseId} ${leaf.credit} credits, and its signed verdict ${own.credit}`,
      proof: null,
    })
  await keeper.note(signed)
}

const lastVerdicts = (verdicts: readonly Verdict[]): Verdict[] => [
  ...new Map(verdicts.map((verdict) => [verdict.leaseId, verdict])).values(),
]

/** Compares the leaderboard with the signed verdicts on record. */
async function compareCredit({ host, store, keeper, onAlarm }: HistoryParts, signal: AbortSignal): Promise<void> {
  const { runId, peerId } = host
  const cursor = await store.verdictCount()
  const page = await requestVerdicts(host, runId, { cursor, max: 1 }, signal)
  const digest = await openVerdictDigest(page.digest, runId)
  // Verdicts that are on their way may withdraw credit.
  if (digest.verdicts.length > 0 || page.more) return
  const earned = totalsOf(await store.verdicts()).credit
  const sealed = await requestLeaderboard(host, runId, { peerId }, signal)
  const board = await openLeaderboard(sealed, runId)
  await keeper.note(await openSignedHead('leaderboard', sealed, runId))
  const place = board.asked?.key.peerId === peerId ? board.asked.key : board.keys.find((key) => key.peerId === peerId)
  const stated = Math.min(digest.totalCredit, place?.credit ?? Number.POSITIVE_INFINITY)
  if (stated < earned - SLACK)
    onAlarm({
      text: `you have signed verdicts for ${rounded(earned)} credits, but the coordinator says ${rounded(stated)}`,
      proof: null,
    })
}

const rounded = (credit: number): number => Math.round(credit * 100) / 100
