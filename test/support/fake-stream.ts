import type { Stream } from '@libp2p/interface'

/** The part of a libp2p stream that a byte stream uses, fed by hand. */
export class FakeStream extends EventTarget {
  readableEnded = false
  maxReadBufferLength = 0
  readStatus: 'readable' | 'paused' = 'readable'
  status = 'open'
  writableNeedsDrain = false
  aborted: Error | null = null
  readonly sent: Uint8Array[] = []

  feed(bytes: Uint8Array): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data: { subarray: () => bytes } }))
  }
  finish(): void {
    this.readableEnded = true
    this.dispatchEvent(new Event('end'))
  }
  pause(): void {
    this.readStatus = 'paused'
  }
  resume(): void {
    this.readStatus = 'readable'
  }
  send(bytes: Uint8Array): boolean {
    this.sent.push(bytes)
    return true
  }
  async close(): Promise<void> {}
  abort(why: Error): void {
    this.aborted = why
  }
  /** As the library's interface, of which only the part above is used. */
  get asStream(): Stream {
    return this as unknown as Stream
  }
}
