import { LIMITS } from '../../proto/index.js'
import type { Clock, SwarmLogger } from '../../swarm/index.js'
import type { RunEvent } from '../ledger/events.js'
import type { Recorder } from '../ledger/recorder.js'

export interface BroadcastParts {
  readonly recorder: Pick<Recorder, 'state' | 'listen'>
  /** Gossips `count` verdicts of a node from position `from` of its list on. */
  sendVerdicts(node: string, from: number, count: number): Promise<void>
  /** Gossips the policy in force and how much work there is. */
  announcePolicy(): Promise<void>
  /** Whether there is room for leases that a node waits for. */
  isWanted(): boolean
  readonly clock: Clock
  readonly logger: SwarmLogger
}

/** For nodes that came late, and those that gossip has passed by. */
const ANNOUNCE_EVERY_MS = 5000
/** Between two announcements of room: all nodes get each of them. */
const LEAST_PAUSE_MS = 1000

/** Events after which a node may get a lease that got none before. A new version or round is announced by who opens it. */
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
 * Tells nodes what concerns them, as it happens and until the signal fires: their verdicts, and that there is work. What fails
 * is logged: nodes ask for what they miss.
 */
export async function broadcast(parts: BroadcastParts, signal: AbortSignal): Promise<void> {
  const { recorder, clock, logger } = parts
  /** Position of the first verdict of each node that is not sent yet. Those from before the start are not sent. */
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
      if (!signal.aborted) logger.error({ what, error }, 'nodes could not be told')
    }
  }

  const sendVerdicts = async (): Promise<void> => {
    while (await verdicts.raised()) {
      for (const [node, from] of unsent) {
        const { verdictCount } = recorder.state.nodes.get(node)!
        const count = Math.min(verdictCount - from, LIMITS.verdictsPerDigest.value)
        unsent.delete(node)
        // The rest has its turn after all others.
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

/** Raised any number of times, it is taken down once. */
interface Flag {
  raise(): void
  /** Waits until it is raised, and takes it down. @returns  false when the signal fires first */
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
