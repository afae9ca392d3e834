import { CodedError } from '../../common/errors/index.js'
import { detailForWire } from '../../proto/index.js'
import { type BlobStore, type Clock, TransportError } from '../../swarm/index.js'
import type { DiskLosses } from '../ledger/disk-losses.js'
import type { Recorder } from '../ledger/recorder.js'
import type { JudgedGroup } from '../ledger/run-state.js'

/** How long a body is asked back for, in which its author may connect again: training waits meanwhile. */
const PATIENCE_MS = 60_000
const RETRY_MS = 1000

/** The body of an accepted group is no longer on disk as it was judged, and its author did not have it or did not come. */
export class BodyError extends CodedError<'body_lost'> {}

export interface GroupBodiesParts {
  readonly bodies: Pick<BlobStore, 'read' | 'put'>
  /** Asks a node for a body. @throws TransportError `no_source` */
  readonly fetch: (holder: string, bodySha256: string, signal: AbortSignal) => Promise<Uint8Array>
  readonly isConnected: (node: string) => boolean
  readonly recorder: Pick<Recorder, 'record'>
  readonly clock: Pick<Clock, 'now' | 'sleep' | 'timeout'>
  readonly losses: DiskLosses
}

/** The bodies of accepted groups: what a disk has lost is asked back from whoever made it. */
export interface GroupBodies {
  /**
   * The body as it was judged.
   * @throws BodyError after a minute at most; the signal's reason
   */
  read(group: Pick<JudgedGroup, 'node' | 'bodySha256'>, signal: AbortSignal): Promise<Uint8Array>
  /** Records that a group has no body any more, unless that is on record or nobody would need it. */
  giveUp(leaseId: string, why: BodyError): Promise<void>
}

export function createGroupBodies(parts: GroupBodiesParts): GroupBodies {
  const { bodies, fetch, isConnected, recorder, clock, losses } = parts

  /** @throws the transport's last word when nothing came in time, or the author has forgotten it */
  const askBack = async (node: string, bodySha256: string, signal: AbortSignal): Promise<Uint8Array> => {
    const deadline = clock.timeout(PATIENCE_MS)
    const both = AbortSignal.any([signal, deadline])
    let last = new TransportError('unreachable', `${node} did not connect for ${PATIENCE_MS / 1000} s`)
    for (;;) {
      if (isConnected(node)) {
        try {
          return await fetch(node, bodySha256, both)
        } catch (why) {
          signal.throwIfAborted()
          if (!(why instanceof TransportError)) throw why
          last = why
          if (why.cause instanceof TransportError && why.cause.refusal === 'not_found') throw last
        }
      }
      await clock.sleep(RETRY_MS, both).catch(() => undefined)
      signal.throwIfAborted()
      if (deadline.aborted) throw last
    }
  }

  return {
    async read({ node, bodySha256 }, signal) {
      signal.throwIfAborted()
      const kept = await bodies.read(bodySha256)
      if (kept) return kept
      try {
        const bytes = await askBack(node, bodySha256, signal)
        await bodies.put(bytes)
        losses.note('body', bodySha256, 'recovered', `from its author ${node}`)
        return bytes
      } catch (cause) {
        if (!(cause instanceof TransportError)) throw cause
        const why = `the body ${bodySha256} is gone or damaged on disk, and its author does not have it: ${cause.message}`
        throw new BodyError('body_lost', why, { cause })
      }
    },
    async giveUp(leaseId, { detail }) {
      const event = await recorder.record((state) => {
        const isWanted = state.isOpenToAudit(leaseId) || state.pendingBatch?.leaseIds.includes(leaseId)
        if (!isWanted) return null
        const { bodySha256 } = state.judged.get(leaseId)!
        return { type: 'body-lost', atMs: clock.now(), leaseId, bodySha256, detail: detailForWire(detail) }
      })
      if (event) losses.note('body', event.bodySha256, 'lost', `the group of lease ${leaseId} is not trained on`)
    },
  }
}
