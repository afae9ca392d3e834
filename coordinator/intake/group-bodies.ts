import { CodedError } from '../../common/errors/index.js'
import { detailForWire } from '../../proto/index.js'
import { type BlobStore, type Clock, TransportError } from '../../swarm/index.js'
import type { DiskLosses } from '../ledger/disk-losses.js'
import type { Recorder } from '../ledger/recorder.js'
import type { JudgedGroup } from '../ledger/run-state.js'

/** Time (ms) in which the author of a lost body may connect again. Training waits for it. */
const PATIENCE_MS = 60_000
const RETRY_MS = 1000

/** The body of an accepted group is missing or damaged on disk, and its author could not provide it. */
export class BodyError extends CodedError<'body_lost'> {}

export interface GroupBodiesParts {
  readonly bodies: Pick<BlobStore, 'read' | 'put'>
  /** Requests a body from a node. @throws TransportError `no_source` */
  readonly fetch: (holder: string, bodySha256: string, signal: AbortSignal) => Promise<Uint8Array>
  readonly isConnected: (node: string) => boolean
  readonly recorder: Pick<Recorder, 'record'>
  readonly clock: Pick<Clock, 'now' | 'sleep' | 'timeout'>
  readonly losses: DiskLosses
}

/** The bodies of accepted groups. A lost body is requested from its author. */
export interface GroupBodies {
  /**
   * Reads the body as it was verified.
   * @throws BodyError after at most a minute; the signal's reason
   */
  read(group: Pick<JudgedGroup, 'node' | 'bodySha256'>, signal: AbortSignal): Promise<Uint8Array>
  /** Records that a body is lost, unless that is recorded already or the body is not needed. */
  giveUp(leaseId: string, why: BodyError): Promise<void>
}

export function createGroupBodies(parts: GroupBodiesParts): GroupBodies {
  const { bodies, fetch, isConnected, recorder, clock, losses } = parts

  /** @throws the last error when nothing arrived in time, or the author has forgotten the body */
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
        const why = `the body ${bodySha256} is missing or damaged on disk, and its author could not provide it: ${cause.message}`
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
