import { LIMITS } from '../../proto/index.js'
import type { Clock, SwarmLogger } from '../../swarm/index.js'
import type { RunEvent } from '../ledger/events.js'
import type { Recorder } from '../ledger/recorder.js'

export interface BroadcastParts {
  readonly recorder: Pick<Recorder, 'state' | 'listen'>
  /** Gossips `count` verdicts of a node from position `from` of its list on. */
  sendVerdicts(node: string, from: number, count: number): Promise<void>
  /** Gossips the policy in force and how much capacity for work there is. */
  announcePolicy(): Promise<void>
  /** Whether the run has capacity for leases that a node waits for. */
  isWanted(): boolean
  readonly clock: Clock
  readonly logger: SwarmLogger
}

/** Repeats the announcement for nodes that joined late, or that gossip has missed. */
const ANNOUNCE_EVERY_MS = 5000
/** Shortest pause between two announcements of capacity, since all nodes receive each of them. */
const LEAST_PAUSE_MS = 1000

/** Events after which a node may get a lease that was refused before. The opener of a version or round announces it. */
const MAKES_CAPACITY: ReadonlySet<RunEvent['type']> = new Set<RunEvent['type']>([
  'released',
  'judged',
  'audited',
  'body-lost',
  'batched',
  'trained',
  'batch-refused',
  'resumed',
  'banned',
])

/**
 * Sends nodes their verdicts and announces capacity, as events happen and until the signal fires. Failures are only logged,
 * because nodes ask for what they miss.
 */
export async function broadcast(parts: BroadcastParts, signal: AbortSignal): Promise<void> {
  const { recorder, clock, logger } = parts
  /** Position of the first unsent verdict of each node. Verdicts from before the start are not sent. */
  const unsent = new Map<string, number>()
  const verdicts = createFlag(signal)
  const capacity = createFlag(signal)
  const stopListening = recorder.listen((event) => {
    if (event.type === 'judged' || event.type === 'audited') {
      if (!unsent.has(event.node)) unsent.set(event.node, recorder.state.nodes.get(event.node)!.verdictCount - 1)
      verdicts.raise()
    }
    if (MAKES_CAPACITY.has(event.type)) capacity.raise()
  })
  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (!signal.aborted) logger.error({ what, error }, 'nodes could not be notified')
    }
  }

  const sendVerdicts = async (): Promise<void> => {
    while (await verdicts.raised()) {
      for (const [node, from] of unsent) {
        const { verdictCount } = recorder.state.nodes.get(node)!
        const count = Math.min(verdictCount - from, LIMITS.verdictsPerDigest.value)
        unsent.delete(node)
        // The rest is sent after the verdicts of all other nodes.
        if (from + count < verdictCount) unsent.set(node, from + count)
        await attempt('verdicts', () => parts.sendVerdicts(node, from, count))
        if (signal.aborted) return
      }
    }
  }
  const announceCapacity = async (): Promise<void> => {
    while (await capacity.raised()) {
      if (!parts.isWanted()) continue
      await attempt('capacity', () => parts.announcePolicy())
      await clock.sleep(LEAST_PAUSE_MS, signal).catch(() => undefined)
    }
  }
  const announcePolicy = async (): Promise<void> => {
    while (!signal.aborted) {
      await attempt('policy', () => parts.announcePolicy())
      await clock.sleep(ANNOUNCE_EVERY_MS, signal).catch(() => undefined)
    }
  }
  try {
    await Promise.all([sendVerdicts(), announceCapacity(), announcePolicy()])
  } finally {
    stopListening()
  }
}

/** A flag that can be raised repeatedly before it is lowered once. */
interface Flag {
  raise(): void
  /** Waits until the flag is raised, and lowers it. @returns  false when the signal fires first */
  raised(): Promise<boolean>
}

function createFlag(signal: AbortSignal): Flag {
  let up = false
  let wake = (): void => undefined
  signal.addEventListener('abort', () => wake(), { once: true })
  return {
    raise() {
      up = true
      wake()
    },
    async raised() {
      if (!up && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      up = false
      return !signal.aborted
    },
  }
}
