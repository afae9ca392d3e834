import { EngineError } from './errors.js'
import type { NativeContext } from './native.js'
import type { Token } from './types.js'

/** Tokens to decode after those in a sequence's cache. */
export interface Feed {
  readonly sequence: number
  /** Position of the first token. */
  readonly position: number
  readonly tokens: readonly Token[]
  /** Whether the distribution after a token will be read. */
  wanted(index: number): boolean
  /**
   * Reads the distribution after `tokens[index]`; the calls follow one another. The distribution is freed afterwards. Where the
   * context runs in order, the first read queues behind the decode. A read that nothing awaits need only be requested, since the
   * next decode queues behind it. Reads after a failed decode are discarded.
   * @param place  the context's number of the distribution
   */
  read(place: number, index: number): Promise<void>
  /** Called once while llama.cpp computes, before any read: for work that needs no distribution. */
  meanwhile?(): void
}

/** Combines simultaneous feeds of several sequences into one decode. */
export interface Decoder {
  /** Resolves when all tokens are decoded and read. After an error the content of the sequence is undefined. */
  feed(feed: Feed): Promise<void>
  /** Removes a sequence's tokens from a position on. @returns  false if llama.cpp could only remove all of them */
  remove(sequence: number, from: number): Promise<boolean>
  /** Replaces a sequence's tokens by a copy of another sequence's. @returns  the last position */
  copy(from: number, to: number): Promise<number>
  /** Resolves when llama.cpp is idle. */
  idle(): Promise<void>
}

/** The progress of a feed. */
interface Job extends Feed {
  readonly resolve: () => void
  readonly reject: (cause: unknown) => void
  fed: number
  failed: boolean
}

/** A part of a feed in one decode. */
interface Piece {
  readonly job: Job
  readonly from: number
  readonly size: number
  places: Uint32Array
}

export interface DecoderOptions {
  /** Maximal tokens of one decode. */
  readonly batchTokens: number
  /** Maximal tokens of a sequence. */
  readonly contextSize: number
  /** Whether the context runs its calls one after the other, see thread-pool.ts. */
  readonly inOrder: boolean
}

export function createDecoder(native: NativeContext, options: DecoderOptions): Decoder {
  const { batchTokens, contextSize, inOrder } = options
  let queue: Job[] = []
  let scheduled = false
  let last: Promise<unknown> = Promise.resolve()

  /** Runs work alone: llama.cpp handles one call at a time. */
  const alone = <T>(work: () => T | Promise<T>): Promise<T> => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }

  const decodeQueue = async (): Promise<void> => {
    scheduled = false
    let jobs = queue
    queue = []
    while (jobs.length > 0) {
      await decode(piecesOf(jobs, batchTokens))
      jobs = jobs.filter(({ fed, tokens, failed }) => !failed && fed < tokens.length)
    }
  }

  const decode = async (pieces: readonly Piece[]): Promise<void> => {
    let decoded: Promise<void>
    try {
      native.initBatch(pieces.reduce((sum, { size }) => sum + size, 0))
      for (const piece of pieces) {
        const { job, from, size } = piece
        const wanted: number[] = []
        for (let i = 0; i < size; i++) if (job.wanted(from + i)) wanted.push(i)
        const tokens = new Uint32Array(from === 0 && size === job.tokens.length ? job.tokens : slice(job, from, size))
        piece.places = native.addToBatch(job.sequence, job.position + from, tokens, new Uint32Array(wanted))
      }
      decoded = native.decodeBatch()
      // Each piece awaits it, but perhaps only after its reads.
      decoded.catch(() => undefined)
      for (const { job, from } of pieces) if (from === 0) job.meanwhile?.()
    } catch (cause) {
      for (const { job } of pieces) fail(job, cause)
      return
    }
    await Promise.all(pieces.map((piece) => finish(piece, decoded)))
  }

  const finish = async ({ job, from, size, places }: Piece, decoded: Promise<void>): Promise<void> => {
    try {
      if (!inOrder) await decoded
      for (let i = 0, next = 0; next < places.length; i++)
        if (job.wanted(from + i)) await job.read(places[next++]!, from + i)
      await decoded
      job.fed = from + size
      if (job.fed === job.tokens.length) job.resolve()
    } catch (cause) {
      // After a failed decode a read fails too. The error of the decode explains the reason.
      fail(
        job,
        await decoded.then(
          () => cause,
          (own: unknown) => own,
        ),
      )
    }
  }

  return {
    feed(feed) {
      if (feed.tokens.length === 0) return Promise.resolve()
      // llama.cpp would report the full context in its own words.
      if (feed.position + feed.tokens.length >= contextSize) return Promise.reject(new EngineError('context_full'))
      return new Promise((resolve, reject) => {
        queue.push({ ...feed, resolve, reject, fed: 0, failed: false })
        if (scheduled) return
        scheduled = true
        // After all continuations of the current event, whose feeds belong into one decode.
        process.nextTick(() => void alone(decodeQueue))
      })
    },
    remove: (sequence, from) =>
      alone(() => {
        if (from > 0 && from > native.getSequenceKvCacheMinPosition(sequence))
          if (native.removeTokenCellsFromSequence(sequence, from, -1)) return true
        native.removeTokenCellsFromSequence(sequence, -1, -1)
        return from === 0
      }),
    copy: (from, to) => alone(() => native.copySequenceStateFromOtherSequence(to, from)),
    idle: () => alone(() => undefined),
  }
}

/** Returns the pieces of the next decode: as much of each feed as fits, in the order of arrival. */
function piecesOf(jobs: readonly Job[], batchTokens: number): Piece[] {
  const pieces: Piece[] = []
  let capacity = batchTokens
  for (const job of jobs) {
    const size = Math.min(capacity, job.tokens.length - job.fed)
    if (size === 0) break
    pieces.push({ job, from: job.fed, size, places: new Uint32Array() })
    capacity -= size
  }
  return pieces
}

const slice = ({ tokens }: Job, from: number, size: number): readonly Token[] => tokens.slice(from, from + size)

function fail(job: Job, cause: unknown): void {
  job.failed = true
  job.reject(cause)
}
