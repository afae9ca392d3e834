import type { Stream } from '@libp2p/interface'
import { encodeFrame, FRAME_HEADER_BYTES, frameLength, LIMITS } from '../proto/index.js'
import { createByteQueue } from './byte-queue.js'
import type { Clock } from './clock.js'
import { TransportError } from './errors.js'

/** Bytes that libp2p gets at once. Larger pieces are no faster, and delay other streams of the connection. */
const SLICE_BYTES = 256 * 1024

/** Bounded reading and writing of frames on one libp2p stream. Not safe for two readers, or two writers, at once. */
export interface ByteStream {
  /**
   * Reads the content of the next frame.
   * @throws SwarmRefusal `too_large` before a byte of the content is read; TransportError `timeout`, `stream_ended`
   */
  readFrame(maxBytes: number, signal: AbortSignal): Promise<Uint8Array>
  /** Reads the next frame, or returns null if the peer has closed the stream between two frames. */
  readFrameOrEnd(maxBytes: number, signal: AbortSignal): Promise<Uint8Array | null>
  /** Writes a frame. @param pace  awaited before each slice, for an upload limit */
  writeFrame(content: Uint8Array, signal: AbortSignal, pace?: Pace): Promise<void>
  /** Closes the stream for writing. */
  end(signal: AbortSignal): Promise<void>
  /** Drops the stream at once; idempotent. */
  abort(why: Error): void
}

export interface Pace {
  readonly sliceBytes: number
  take(bytes: number, signal: AbortSignal): Promise<void>
}

/**
 * Wraps a stream. The stream's own iterator is not used because it buffers without bound. `onDrain` is not used because
 * @libp2p/utils 7 keeps its first promise, so that it waits only once.
 * @param progressTimeoutMs  longest wait for the next byte, or until a write can continue
 * @param onBytes            called with the number of bytes of each arrival
 */
export function createByteStream(
  stream: Stream,
  clock: Clock,
  progressTimeoutMs: number = LIMITS.progressTimeoutMs.value,
  onBytes?: (count: number) => void,
): ByteStream {
  const arrived = createByteQueue()
  /** Size of the current read: the stream must not be paused before a large frame is complete. */
  let wanted = 0
  let ended = stream.readableEnded
  let failure: Error | null = null
  let wake: (() => void) | null = null

  // After a pause, yamux may still deliver a full receive window.
  stream.maxReadBufferLength = MAX_WINDOW_BYTES + SLICE_BYTES
  stream.addEventListener('message', (event) => {
    const bytes = event.data.subarray()
    arrived.push(bytes)
    onBytes?.(bytes.length)
    if (arrived.size > Math.max(LIMITS.streamBufferBytes.value, wanted) && stream.readStatus === 'readable')
      stream.pause()
    wake?.()
  })
  stream.addEventListener('end', () => {
    ended = true
    wake?.()
  })
  stream.addEventListener('close', (event) => {
    failure = event.error ?? null
    ended = true
    wake?.()
  })

  /** Waits until `ready()`, which is called after every event of the stream. */
  const until = async (ready: () => boolean, signal: AbortSignal, what: string): Promise<void> => {
    while (!ready()) {
      signal.throwIfAborted()
      let onAbort = (): void => {}
      let stopTimer = (): void => {}
      try {
        await new Promise<void>((resolve, reject) => {
          stopTimer = clock.after(progressTimeoutMs, () =>
            reject(new TransportError('timeout', `${what} for ${progressTimeoutMs} ms`)),
          )
          onAbort = () => reject(signal.reason)
          signal.addEventListener('abort', onAbort, { once: true })
          wake = resolve
        })
      } finally {
        stopTimer()
        signal.removeEventListener('abort', onAbort)
        wake = null
      }
    }
  }

  const read = async (size: number, signal: AbortSignal): Promise<Uint8Array> => {
    wanted = size
    if (arrived.size < size && stream.readStatus === 'paused') stream.resume()
    await until(() => arrived.size >= size || ended, signal, 'no byte')
    wanted = 0
    if (arrived.size < size)
      throw new TransportError('stream_ended', `after ${arrived.size} of ${size} B`, { cause: failure })
    const bytes = arrived.take(size)
    if (stream.readStatus === 'paused') stream.resume()
    return bytes
  }

  const readFrame = async (maxBytes: number, signal: AbortSignal): Promise<Uint8Array> =>
    read(frameLength(await read(FRAME_HEADER_BYTES, signal), maxBytes), signal)

  const write = async (bytes: Uint8Array, signal: AbortSignal, pace?: Pace): Promise<void> => {
    const size = pace?.sliceBytes ?? SLICE_BYTES
    for (let from = 0; from < bytes.length; from += size) {
      const slice = bytes.subarray(from, from + size)
      await pace?.take(slice.length, signal)
      signal.throwIfAborted()
      send(stream, slice, failure)
      if (stream.writableNeedsDrain) await drained(stream, clock, signal, progressTimeoutMs)
    }
  }

  return {
    readFrame,
    async readFrameOrEnd(maxBytes, signal) {
      await until(() => arrived.size > 0 || ended, signal, 'no request')
      if (arrived.size === 0 && failure === null) return null
      return readFrame(maxBytes, signal)
    },
    writeFrame: (content, signal, pace) => write(encodeFrame(content), signal, pace),
    async end(signal) {
      try {
        await stream.close({ signal })
      } catch (cause) {
        stream.abort(cause instanceof Error ? cause : new Error(String(cause)))
      }
    },
    abort: (why) => stream.abort(why),
  }
}

/** Largest receive window of a stream. The host's muxer is configured with it. */
export const MAX_WINDOW_BYTES = 4 * 1024 * 1024

function send(stream: Stream, slice: Uint8Array, failure: Error | null): void {
  try {
    stream.send(slice)
  } catch (cause) {
    throw new TransportError('stream_ended', 'the peer accepts no more bytes', { cause: failure ?? cause })
  }
}

/** Waits until the muxer accepts bytes again. */
async function drained(stream: Stream, clock: Clock, signal: AbortSignal, timeoutMs: number): Promise<void> {
  while (stream.writableNeedsDrain) {
    let cleanUp = (): void => {}
    try {
      await new Promise<void>((resolve, reject) => {
        const onDrain = (): void => resolve()
        const onClose = (): void => reject(new TransportError('stream_ended', 'closed while writing'))
        const onAbort = (): void => reject(signal.reason)
        const stopTimer = clock.after(timeoutMs, () =>
          reject(new TransportError('timeout', `the peer has accepted no bytes for ${timeoutMs} ms`)),
        )
        stream.addEventListener('drain', onDrain)
        stream.addEventListener('close', onClose)
        signal.addEventListener('abort', onAbort, { once: true })
        if (stream.status !== 'open') onClose()
        if (signal.aborted) onAbort()
        cleanUp = () => {
          stopTimer()
          stream.removeEventListener('drain', onDrain)
          stream.removeEventListener('close', onClose)
          signal.removeEventListener('abort', onAbort)
        }
      })
    } finally {
      cleanUp()
    }
  }
}
