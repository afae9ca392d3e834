import type { LeaseResponse, PolicyAnnouncement, RefusalCode } from '../../proto/index.js'
import type { Clock } from '../../swarm/index.js'
import type { NewsItem, NewsWatch } from '../network/news.js'

export interface WaitParts {
  readonly clock: Pick<Clock, 'sleep'>
  /** 0 .. 1, spreads the questions of many nodes. */
  readonly random: () => number
}

/** Why a node has no work, and what it knows. */
export interface Idleness {
  /** What the coordinator answered last. */
  readonly answer: Pick<LeaseResponse, 'reason' | 'retryAfterMs'>
  /** The round that the node works under. */
  readonly under: { readonly version: number; readonly round: number }
  /** Answers without a lease in a row, this one included. */
  readonly times: number
  /** One of its groups has its verdict meanwhile. */
  readonly onSettled: () => void
}

const SHORTEST_PAUSE_MS = 100
/** The coordinator may name a pause of up to 24 days: a run that has work again should not wait for its nodes. */
const LONGEST_PAUSE_MS = 60_000
/** Without any news, a node asks again this long after the coordinator's earliest time, and later each time. */
const FIRST_BACK_OFF_MS = 2000
const LONGEST_BACK_OFF_MS = 30_000

/** So many nodes that were woken together ask in one millisecond. */
const NODES_PER_MS = 1
const SHORTEST_SPREAD_MS = 50
const LONGEST_SPREAD_MS = 10_000
/** Nodes that ask for each lease that there is room for: some may not have it. */
const ASKING_PER_LEASE = 2

/** Refusals that end when there is room for leases, in the run or in its owner's share. */
const FOR_WANT_OF_CAPACITY: ReadonlySet<RefusalCode> = new Set([
  'no_work',
  'influence_cap',
  'too_many_leases',
  'rate_limited',
  'paused',
])

/**
 * Waits until it makes sense to ask for a lease again. What ends the wait:
 *
 * - at once: a newer version; for a key that waits to be admitted a newer round; a verdict when it holds too many leases;
 * - not before the coordinator's earliest time: room for leases, which it announces with the number of nodes that wait, so that
 *   about as many ask as may have some;
 * - without news: that time and a back-off, for gossip gives no receipts.
 *
 * Nodes that an announcement wakes spread their questions, the wider the more of them wait.
 * @param watch  listening since before the question was asked: news may overtake the answer
 * @returns  whether there is a newer round to take up before the node asks
 * @throws the signal's reason
 */
export async function waitForWork(
  { clock, random }: WaitParts,
  { answer: { reason, retryAfterMs }, under, times, onSettled }: Idleness,
  watch: NewsWatch,
  signal: AbortSignal,
): Promise<boolean> {
  const code = reason ?? 'no_work'
  const isNewer = ({ version, round }: PolicyAnnouncement): boolean =>
    version > under.version || (code === 'not_registered' && round > under.round)
  const isInvited = ({ capacity, waiting }: PolicyAnnouncement): boolean =>
    capacity > 0 && FOR_WANT_OF_CAPACITY.has(code) && random() * waiting < ASKING_PER_LEASE * capacity
  const invitations: NewsItem[] = []
  const isUrgent = (item: NewsItem): boolean => {
    if (item.type === 'settled') {
      onSettled()
      return code === 'too_many_leases'
    }
    if (isInvited(item.announcement)) invitations.push(item)
    return isNewer(item.announcement)
  }

  const earliestMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, retryAfterMs))
  const backOffMs =
    Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(times - 1, 10)) * (0.5 + random() / 2)
  const news =
    (await watch.wait(earliestMs, isUrgent, signal)) ??
    invitations[0] ??
    (await watch.wait(backOffMs, (item) => isUrgent(item) || invitations.length > 0, signal))
  if (news?.type !== 'announced') return false
  await clock.sleep(random() * spreadMs(news.announcement.waiting), signal)
  return isNewer(news.announcement)
}

/** Pause after a failure of the network, doubled by each further one in a row; the connection itself is kept elsewhere. */
const RETRY_MS = 1000
const LONGEST_RETRY_MS = 8000

/**
 * Waits for another attempt with a coordinator that could not be worked with, or that names a manifest which nobody serves. A
 * manifest that is announced meanwhile is worth one earlier.
 * @param loaded    id of the manifest that the node works under
 * @param failures  in a row
 * @throws the signal's reason
 */
export async function waitForRetry(
  { clock, random }: WaitParts,
  { loaded, failures }: { readonly loaded: string | null; readonly failures: number },
  watch: NewsWatch,
  signal: AbortSignal,
): Promise<void> {
  const pauseMs = Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** Math.max(0, Math.min(failures - 1, 10)))
  const isNew = (item: NewsItem): boolean => item.type === 'announced' && item.announcement.manifestId !== loaded
  const news = await watch.wait(pauseMs * (0.5 + random() / 2), isNew, signal)
  if (news?.type === 'announced') await clock.sleep(random() * spreadMs(news.announcement.waiting), signal)
}

const spreadMs = (waiting: number): number =>
  Math.min(LONGEST_SPREAD_MS, Math.max(SHORTEST_SPREAD_MS, waiting / NODES_PER_MS))
