import type { Crowding, SwarmHost } from '../../swarm/index.js'
import type { EventOf, Strain, StrainCause } from '../ledger/events.js'
import type { Recorder } from '../ledger/recorder.js'
import { connectionFall, createActivity, groupFall } from './activity.js'
import { blockName } from './block-name.js'

/** A look at the run that its strain is judged by. */
export interface StrainWatch {
  /** Records that the run is under strain, or that it is not any more. Has to be called every second. */
  look(): Promise<void>
}

export interface StrainWatchParts {
  readonly host: Pick<SwarmHost, 'clock' | 'serving'>
  /** Returns the number of connected peers. */
  readonly peers: () => number
  readonly recorder: Recorder
  /** Returns how many leases the run could give out now. */
  readonly capacity: () => number
  /** Whether too many groups wait for audits. */
  readonly isAuditBehind: () => boolean
  readonly signal: AbortSignal
}

const LOOK_EVERY_MS = 1000
/** How long crowded streams are remembered, and how many seconds of them are a strain. */
const CROWDED_MS = 30_000
const CROWDED_SECONDS = 10
/** How long streams that were crowded count as a cause of a fall. */
const RECENTLY_CROWDED_MS = 120_000
/** Shortest time between two records. Each is permanent. */
const AGAIN_MS = 60_000

export function createStrainWatch(parts: StrainWatchParts): StrainWatch {
  const { host, recorder, peers, capacity, isAuditBehind, signal } = parts
  const { clock } = host
  const { state } = recorder
  const activity = createActivity(clock)
  const crowds = new Map<string, { readonly crowding: Crowding; readonly secondsMs: number[] }>()
  let lookedMs = Number.NEGATIVE_INFINITY
  let recordedMs = Number.NEGATIVE_INFINITY

  const stops = [
    recorder.listen(({ type }) => {
      if (type === 'judged') activity.group()
    }),
    host.serving.onCrowded((crowding) => {
      const earlier = crowds.get(crowding.protocol)?.secondsMs ?? []
      const secondsMs = [...earlier.filter((ms) => clock.elapsedMs() - ms <= CROWDED_MS), clock.elapsedMs()]
      crowds.set(crowding.protocol, { crowding, secondsMs })
    }),
  ]
  const stopAll = (): void => {
    for (const stop of stops) stop()
  }
  signal.addEventListener('abort', stopAll, { once: true })

  const causes = (): StrainCause[] => {
    const nowMs = clock.elapsedMs()
    const found: StrainCause[] = []
    for (const { crowding, secondsMs } of crowds.values())
      if (nowMs - (secondsMs.at(-1) ?? 0) <= RECENTLY_CROWDED_MS)
        found.push({ reason: 'streams_full', detail: crowdLine(crowding) })
    const gone = activity.gone()
    if (gone > 0) found.push({ reason: 'disconnected', detail: `${gone} nodes` })
    if (isAuditBehind()) found.push({ reason: 'audits_behind', detail: '' })
    const held = heldLine()
    if (held !== null) found.push({ reason: 'leases_held', detail: held })
    return found
  }

  /** Describes leases that are held for longer than one duration, if they are most of the open ones. */
  const heldLine = (): string | null => {
    const durationMs = state.round?.configuration.leases.durationMs ?? Number.POSITIVE_INFINITY
    const open = [...state.openLeases.values()]
    const held = open.filter(({ atMs }) => clock.now() - atMs > durationMs)
    if (held.length < 4 || held.length <= open.length / 2) return null
    const blocks = new Map<string, number>()
    for (const { node, addressBlock } of held)
      blocks.set(addressBlock ?? node, (blocks.get(addressBlock ?? node) ?? 0) + 1)
    const [block, ofBlock] = [...blocks].sort(([, a], [, b]) => b - a)[0]!
    return `${held.length} of ${open.length} leases are older than leases.durationMs, ${ofBlock} of them from ${blockName(block)}`
  }

  const strain = (): Strain | null => {
    const { round, orders, unattended } = state
    const isWanted = round && round.version < round.configuration.versions && !orders.pause && !orders.rollback
    if (!isWanted) return null
    const fall = connectionFall(activity) ?? (unattended ? null : groupFall(activity, state.strain))
    if (fall) return fall
    const nowMs = clock.elapsedMs()
    const crowded = [...crowds.values()].filter(
      ({ secondsMs }) => secondsMs.filter((ms) => nowMs - ms <= CROWDED_MS).length >= CROWDED_SECONDS,
    )
    return crowded.length > 0 ? { what: 'streams', before: 0, now: crowded.length } : null
  }

  return {
    async look() {
      const nowMs = clock.elapsedMs()
      if (nowMs - lookedMs < LOOK_EVERY_MS) return
      lookedMs = nowMs
      activity.look({
        peers: peers(),
        // While the trainer works on a batch, groups may have to wait for it.
        hasCapacity: !state.pendingBatch || capacity() > 0,
      })
      const found = strain()
      const version = state.round?.version ?? 0
      if (!found) {
        if (!state.strain) return
        recordedMs = nowMs
        await recorder.record(() => ({ type: 'relieved', atMs: clock.now(), version }))
        return
      }
      const named = causes()
      if (state.strain && (nowMs - recordedMs < AGAIN_MS || isSame(state.strain, found, named))) return
      recordedMs = nowMs
      await recorder.record(() => ({ type: 'strained', atMs: clock.now(), version, ...found, causes: named }))
    },
  }
}

const isSame = (before: EventOf<'strained'>, now: Strain, causes: readonly StrainCause[]): boolean =>
  before.what === now.what && reasonsOf(before.causes) === reasonsOf(causes)

const reasonsOf = (causes: readonly StrainCause[]): string => causes.map(({ reason }) => reason).join()

const crowdLine = ({ protocol, streams, block, ofBlock, keysOfBlock }: Crowding): string =>
  `all ${streams} streams of ${protocol} are open, ${ofBlock} of them by ${keysOfBlock} keys of ${blockName(block)}`
