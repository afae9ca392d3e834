import {
  LIMITS,
  PROTOCOLS,
  refusal,
  type SnapshotResponse,
  type SnapshotWant,
  snapshotRequest,
  snapshotResponse,
} from '../proto/index.js'
import { createByteStream } from './byte-stream.js'
import { TransportError } from './errors.js'
import type { SwarmHost } from './host.js'

/** A peer that snapshots are fetched from, over one stream with several open questions. */
export interface SnapshotSource {
  readonly peer: string
  /** Asks a question. @throws the error that ended the stream: TransportError `timeout`, `stream_ended`; SwarmRefusal for a malformed answer */
  ask(want: SnapshotWant): Promise<SnapshotResponse>
  /** Idempotent. */
  close(why?: Error): void
}

interface Pending {
  readonly isChunk: boolean
  resolve(response: SnapshotResponse): void
  reject(why: Error): void
}

/**
 * Opens a source.
 * @param onChunkBytes       called with the number of bytes of each arrival that belongs to a chunk
 * @param progressTimeoutMs  the source fails when an answer is due and no byte arrives for this long
 * @throws TransportError `unreachable`
 */
export async function openSnapshotSource(
  host: SwarmHost,
  peer: string,
  signal: AbortSignal,
  progressTimeoutMs: number = LIMITS.progressTimeoutMs.value,
  onChunkBytes?: (count: number) => void,
): Promise<SnapshotSource> {
  const opening = AbortSignal.any([signal, host.clock.timeout(progressTimeoutMs)])
  const stream = await host.openStream(peer, PROTOCOLS.snapshot, { signal: opening })
  const bytes = createByteStream(stream, host.clock, progressTimeoutMs, (count) => {
    // Answers arrive in the order of the questions.
    const [first] = pending.values()
    if (first?.isChunk) onChunkBytes?.(count)
  })
  const closing = new AbortController()
  const both = AbortSignal.any([signal, closing.signal])
  const pending = new Map<number, Pending>()
  let nextId = 1
  let reading = false
  let writing: Promise<void> = Promise.resolve()
  let failure: Error | null = null

  const close = (why: Error): void => {
    if (failure) return
    failure = why
    closing.abort(why)
    bytes.abort(why)
    for (const { reject } of pending.values()) reject(why)
    pending.clear()
  }

  /** Reads only while answers are due, so that an idle source does not reach the progress timeout. */
  const readAnswers = async (): Promise<void> => {
    if (reading) return
    reading = true
    try {
      while (pending.size > 0) {
        const response = snapshotResponse.parse(await bytes.readFrame(snapshotResponse.maxBytes, both))
        const asked = pending.get(response.id)
        if (!asked) throw refusal('malformed', `an answer to question ${response.id}, which was not asked`)
        pending.delete(response.id)
        asked.resolve(response)
      }
    } catch (why) {
      close(why instanceof Error ? why : new Error(String(why)))
    } finally {
      reading = false
    }
  }

  return {
    peer,
    async ask(want) {
      if (failure) throw failure
      const id = nextId
      nextId += 1
      const answered = new Promise<SnapshotResponse>((resolve, reject) =>
        pending.set(id, { isChunk: want.kind === 'chunk', resolve, reject }),
      )
      // Two writers on one stream would mix their frames.
      writing = writing.then(() => bytes.writeFrame(snapshotRequest.encode({ id, want }), both)).catch(close)
      void readAnswers()
      return answered
    },
    close: (why = new TransportError('closed', peer)) => close(why),
  }
}
