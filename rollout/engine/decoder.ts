import { EngineError } from './errors.js'
import type { NativeContext } from './native.js'
import type { Token } from './types.js'

/** Tokens that follow what a sequence holds. */
export interface Feed {
  readonly sequence: number
  /** Of the first token. */
  readonly position: number
  readonly tokens: readonly Token[]
  /** Whether the distribution after a token is looked at. */
  wanted(index: number): boolean
  /**
   * Looks at the distribution after `tokens[index]`, one after the other; it is gone when this is over. Where the context works
   * in order, the first look is asked for behind the decode, and those that nothing waits for need but be asked for when this is
   * over: the next decode comes behind them. What is found after a decode that failed is not used.
   * @param place  by which the context finds it
   */
  read(place: number, index: number): Promise<void>
  /** Called once while llama.cpp computes, before anything is read: for what costs time and needs no distribution yet. */
  meanwhile?(): void
}

/** Puts what several sequences are fed at the same time into one decode. */
export interface Decoder {
  /** Resolves when all is fed and read. On an error nothing certain is held of the sequence. */
  feed(feed: Feed): Promise<void>
  /** Removes what a sequence holds from a position on. @returns  whether the rest is still there; if not, nothing is */
  remove(sequence: number, from: number): Promise<boolean>
  /** Puts all that one sequence holds in place of what another one does. @returns  its last position */
  copy(from: number, to: number): Promise<number>
  /** Resolves when llama.cpp is not at work. */
  idle(): Promise<void>
}

/** What of a feed is not in a decode yet. */
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
  /** Of one decode at most. */
  readonly batchTokens: number
  /** Tokens that a sequence holds at most. */
  readonly contextSize: number
  /** Whether what is asked of the context is done one after the other, see thread-pool.ts. */
  readonly inOrder: boolean
}

export function createDecoder(native: NativeContext, options: DecoderOptions): Decoder {
  const { batchTokens, contextSize, inOrder } = options
  let queue: Job[] = []
  let scheduled = false
  let last: Promise<unknown> = Promise.resolve()

  /** llama.cpp does one thing at a time. */
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
      // Each piece hears of it, but perhaps not before it has looked.
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
      // Behind a decode that failed a look fails too, and does not know why.
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
      // llama.cpp has no place for more, and by itself says so only in its own words.
      if (feed.position + feed.tokens.length >= contextSize) return Promise.reject(new EngineError('context_full'))
      return new Promise((resolve, reject) => {
        queue.push({ ...feed, resolve, reject, fed: 0, failed: false })
        if (scheduled) return
        scheduled = true
        // When all that waits for the same thing has gone on: those belong into one decode.
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

/** What goes into the next decode: of each feed as much as there is room for, in the order of coming. */
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
