import type { LeaseResponse, PolicyAnnouncement, RefusalCode } from '../../proto/index.js'
import type { Clock } from '../../swarm/index.js'
import type { EventWatch, NodeEvent } from '../network/events.js'

export interface WaitParts {
  readonly clock: Pick<Clock, 'sleep'>
  /** 0 .. 1, spreads the requests of many nodes. */
  readonly random: () => number
}

/** The reason why a node has no work, and its state. */
export interface Idleness {
  /** The last answer of the coordinator. */
  readonly answer: Pick<LeaseResponse, 'reason' | 'retryAfterMs'>
  /** The round that the node works under. */
  readonly under: { readonly version: number; readonly round: number }
  /** Number of answers without a lease in a row, this one included. */
  readonly times: number
  /** Called when a group of the node gets its verdict during the wait. */
  readonly onSettled: () => void
}

const SHORTEST_PAUSE_MS = 100
/** Bound on the coordinator's pause, which may be up to 24 days: a run that has work again needs its nodes. */
const LONGEST_PAUSE_MS = 60_000
/** Without an announcement, a node asks again this long after the coordinator's earliest time, and later each time. */
const FIRST_BACK_OFF_MS = 2000
const LONGEST_BACK_OFF_MS = 30_000

/** Nodes per millisecond that ask after one announcement. */
const NODES_PER_MS = 1
const SHORTEST_SPREAD_MS = 50
const LONGEST_SPREAD_MS = 10_000
/** Nodes that ask per free lease: some of them may not get one. */
const ASKING_PER_LEASE = 2

/** Refusals that end when the run, or the share of the owner, has capacity for leases. */
const WITHOUT_CAPACITY: ReadonlySet<RefusalCode> = new Set([
  'no_work',
  'influence_cap',
  'too_many_leases',
  'rate_limited',
  'paused',
])

/**
 * Waits until another request for a lease makes sense. The wait ends:
 *
 * - at once for a newer version, and for a newer round if the key is not registered;
 * - at once for a verdict if the node has too many leases;
 * - after the coordinator's earliest time for an announcement of capacity. It contains the number of waiting nodes, so that only as many
 *   nodes ask as may get a lease;
 * - otherwise after that time and a back-off, because gossip may lose messages.
 *
 * Nodes that an announcement wakes spread their requests over a time that grows with their number.
 * @param watch  listens since before the request, because an announcement may arrive before the answer
 * @returns whether the node must load a newer round before it asks
 * @throws the signal's reason
 */
export async function waitForWork(
  { clock, random }: WaitParts,
  { answer: { reason, retryAfterMs }, under, times, onSettled }: Idleness,
  watch: EventWatch,
  signal: AbortSignal,
): Promise<boolean> {
  const code = reason ?? 'no_work'
  const isNewer = ({ version, round }: PolicyAnnouncement): boolean =>
    version > under.version || (code === 'not_registered' && round > under.round)
  const isInvited = ({ capacity, waiting }: PolicyAnnouncement): boolean =>
    capacity > 0 && WITHOUT_CAPACITY.has(code) && random() * waiting < ASKING_PER_LEASE * capacity
  const invitations: NodeEvent[] = []
  const isUrgent = (item: NodeEvent): boolean => {
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
  const event =
    (await watch.wait(earliestMs, isUrgent, signal)) ??
    invitations[0] ??
    (await watch.wait(backOffMs, (item) => isUrgent(item) || invitations.length > 0, signal))
  if (event?.type !== 'announced') return false
  await clock.sleep(random() * spreadMs(event.announcement.waiting), signal)
  return isNewer(event.announcement)
}

/** Pause after a failed attempt, which doubles with each further one in a row. */
const RETRY_MS = 1000
const LONGEST_RETRY_MS = 8000

/**
 * Waits for another attempt with the coordinator after a failure, or after an answer with a manifest that no peer serves. The announcement
 * of a new manifest ends the wait.
 * @param loaded    id of the manifest that the node works under
 * @param failures  number of failures in a row
 * @throws the signal's reason
 */
export async function waitForRetry(
  { clock, random }: WaitParts,
  { loaded, failures }: { readonly loaded: string | null; readonly failures: number },
  watch: EventWatch,
  signal: AbortSignal,
): Promise<void> {
  const pauseMs = Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** Math.max(0, Math.min(failures - 1, 10)))
  const isNew = (item: NodeEvent): boolean => item.type === 'announced' && item.announcement.manifestId !== loaded
  const event = await watch.wait(pauseMs * (0.5 + random() / 2), isNew, signal)
  if (event?.type === 'announced') await clock.sleep(random() * spreadMs(event.announcement.waiting), signal)
}

const spreadMs = (waiting: number): number =>
  Math.min(LONGEST_SPREAD_MS, Math.max(SHORTEST_SPREAD_MS, waiting / NODES_PER_MS))
