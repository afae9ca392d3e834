import { LIMITS } from '../../proto/index.js'
import type { Clock, SwarmLogger } from '../../swarm/index.js'
import type { RunState } from '../ledger/run-state.js'

export interface Duties {
  readonly state: RunState
  releaseLapsed(): Promise<void>
  /** Opens a further round when somebody waits for one. */
  openRound(): Promise<void>
  auditSuspects(): void
  /** Gossips `count` verdicts of a node from position `from` of its list on. */
  sendVerdicts(node: string, from: number, count: number): Promise<void>
  announcePolicy(): Promise<void>
  readonly clock: Clock
  readonly logger: SwarmLogger
}

const TICK_MS = 200
const ANNOUNCE_EVERY_TICKS = 25

/**
 * The slow, periodic duties of a coordinator, until the signal fires. A duty that fails is logged and done again at its
 * next turn; it never keeps the others from theirs.
 */
export async function keepHouse(duties: Duties, signal: AbortSignal): Promise<void> {
  const { state, clock, logger } = duties
  const attempt = async (what: string, duty: () => Promise<void>): Promise<void> => {
    try {
      await duty()
    } catch (error) {
      if (!signal.aborted) logger.error({ duty: what, error }, 'a periodic duty failed')
    }
  }
  /** Verdicts of each node that were gossiped. Those from before a restart are not: nodes ask for what they miss. */
  const sent = new Map([...state.nodes].map(([node, { verdicts }]) => [node, verdicts.length]))
  const sendVerdicts = async (): Promise<void> => {
    for (const [node, { verdicts }] of state.nodes) {
      const from = sent.get(node) ?? 0
      const count = Math.min(verdicts.length - from, LIMITS.verdictsPerDigest.value)
      if (count === 0) continue
      sent.set(node, from + count)
      await attempt('verdicts', () => duties.sendVerdicts(node, from, count))
    }
  }
  for (let turn = 0; !signal.aborted; turn++) {
    await attempt('lapsed leases', () => duties.releaseLapsed())
    await attempt('rounds', () => duties.openRound())
    await attempt('suspects', async () => duties.auditSuspects())
    await sendVerdicts()
    if (turn % ANNOUNCE_EVERY_TICKS === 0) await attempt('policy', () => duties.announcePolicy())
    await clock.sleep(TICK_MS, signal).catch(() => undefined)
  }
}
