import type { Stream } from '@libp2p/interface'
import type { Wire } from './sim-network.js'

/** Bytes that may be under way in one direction before the writer has to wait. */
const WINDOW_BYTES = 256 * 1024

/** One end of a stream over a simulated connection: the part of libp2p's interface that a byte stream uses. */
export class SimStream extends EventTarget {
  readableEnded = false
  maxReadBufferLength = 0
  readStatus: 'readable' | 'paused' = 'readable'
  status: 'open' | 'closed' | 'aborted' | 'reset' = 'open'
  writableNeedsDrain = false
  /** The other end, once the connection has carried the news of this stream there. */
  other: SimStream | null = null
  #ended = false
  #underWay = 0
  readonly #arrived: (() => void)[] = []

  /** @param broken  called when a piece of data is to break the connection; @returns whether it was */
  constructor(
    readonly wire: Wire,
    readonly broken: () => boolean,
  ) {
    super()
  }

  send(bytes: Uint8Array): boolean {
    if (this.status !== 'open' || this.#ended) throw new Error(`the stream is ${this.#ended ? 'ended' : this.status}`)
    if (this.broken()) return false
    const piece = bytes.slice()
    this.#underWay += piece.length
    this.writableNeedsDrain = this.#underWay > WINDOW_BYTES
    this.wire.send(piece.length, () =>
      this.other?.arrive(() => {
        this.other!.dispatchEvent(Object.assign(new Event('message'), { data: piece }))
        this.#taken(piece.length)
      }),
    )
    return !this.writableNeedsDrain
  }

  pause(): void {
    this.readStatus = 'paused'
  }

  resume(): void {
    this.readStatus = 'readable'
    this.#deliver()
  }

  async close(): Promise<void> {
    if (this.status !== 'open' || this.#ended) return
    this.#ended = true
    this.wire.send(0, () => this.other?.arrive(() => this.other!.finish()))
    this.#closeWhenBothEnded()
  }

  abort(why: Error): void {
    if (this.status !== 'open') return
    this.wire.send(0, () => this.other?.reset(new Error('the other side has dropped the stream')))
    this.drop('aborted', why)
  }

  /** Takes what the wire brought, at once or when reading goes on. */
  arrive(take: () => void): void {
    this.#arrived.push(take)
    this.#deliver()
  }

  finish(): void {
    this.readableEnded = true
    this.dispatchEvent(new Event('end'))
    this.#closeWhenBothEnded()
  }

  reset(why: Error): void {
    this.drop('reset', why)
  }

  /** The process at this end is gone: nothing happens here any more. */
  cut(): void {
    this.status = 'reset'
    this.#arrived.length = 0
  }

  drop(status: 'closed' | 'aborted' | 'reset', error?: Error): void {
    if (this.status !== 'open') return
    this.status = status
    this.#arrived.length = 0
    this.dispatchEvent(Object.assign(new Event('close'), { error }))
  }

  #deliver(): void {
    while (this.status === 'open' && this.readStatus === 'readable' && this.#arrived.length > 0)
      this.#arrived.shift()!()
  }

  #taken(bytes: number): void {
    this.#underWay -= bytes
    if (this.status !== 'open' || !this.writableNeedsDrain || this.#underWay > WINDOW_BYTES / 2) return
    this.writableNeedsDrain = false
    this.dispatchEvent(new Event('drain'))
  }

  #closeWhenBothEnded(): void {
    if (this.#ended && this.readableEnded) this.drop('closed')
  }

  /** As the library's interface, of which only the part above is used. */
  get asStream(): Stream {
    return this as unknown as Stream
  }
}
