import { refusal } from './errors.js'

/** Length of a frame header: each message on a stream follows its length in 4 bytes, big-endian. */
export const FRAME_HEADER_BYTES = 4

export function encodeFrame(data: Uint8Array): Uint8Array {
  const frame = new Uint8Array(FRAME_HEADER_BYTES + data.length)
  new DataView(frame.buffer).setUint32(0, data.length)
  frame.set(data, FRAME_HEADER_BYTES)
  return frame
}

/**
 * Reads the length of a frame from its header.
 * @throws SwarmRefusal `too_large` before a byte of the content is read; `malformed` if the header is too short
 */
export function frameLength(header: Uint8Array, maxBytes: number): number {
  if (header.length < FRAME_HEADER_BYTES) throw refusal('malformed', `a frame header of ${header.length} B`)
  const length = new DataView(header.buffer, header.byteOffset, FRAME_HEADER_BYTES).getUint32(0)
  if (length > maxBytes) throw refusal('too_large', `a frame of ${length} B, at most ${maxBytes} B are allowed`)
  return length
}
