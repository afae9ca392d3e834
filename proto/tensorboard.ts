import protobuf from 'protobufjs/minimal.js'

/** The values of one step, by name. */
export interface Scalars {
  readonly step: number
  /** Seconds since 1970. */
  readonly wallTime: number
  readonly values: ReadonlyMap<string, number>
}

const [VARINT, FIXED64, BYTES, FIXED32] = [0, 1, 2, 5]
const tag = (field: number, type: number): number => (field << 3) | type

/**
 * Encodes an event file of TensorBoard: records (tensorflow/core/lib/io/record_writer.h) of `Event` messages
 * (tensorflow/core/util/event.proto) with scalars.
 * @param startedAt  seconds since 1970
 */
export function tensorboardFile(startedAt: number, steps: readonly Scalars[]): Uint8Array {
  const version = protobuf.Writer.create()
  version.uint32(tag(1, FIXED64)).double(startedAt).uint32(tag(3, BYTES)).string('brain.Event:2')
  return Buffer.concat([record(version.finish()), ...steps.map((step) => record(scalarEvent(step)))])
}

function scalarEvent({ step, wallTime, values }: Scalars): Uint8Array {
  const event = protobuf.Writer.create()
  event.uint32(tag(1, FIXED64)).double(wallTime).uint32(tag(2, VARINT)).int64(step)
  event.uint32(tag(5, BYTES)).fork()
  for (const [name, value] of values) {
    event.uint32(tag(1, BYTES)).fork()
    event.uint32(tag(1, BYTES)).string(name).uint32(tag(2, FIXED32)).float(value)
    event.ldelim()
  }
  return event.ldelim().finish()
}

/** Encodes a record: length, its checksum, data, its checksum. All numbers are little-endian. */
function record(data: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(8 + 4 + data.length + 4)
  bytes.writeBigUInt64LE(BigInt(data.length), 0)
  bytes.writeUInt32LE(masked(crc32c(bytes.subarray(0, 8))), 8)
  bytes.set(data, 12)
  bytes.writeUInt32LE(masked(crc32c(data)), 12 + data.length)
  return bytes
}

/** Masks a checksum, because a checksum over data that contains checksums is weak (tensorflow/core/lib/hash/crc32c.h). */
const masked = (crc: number): number => (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0

/** The Castagnoli polynomial, its bits in reverse. */
const POLYNOMIAL = 0x82f63b78

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1
  return crc
})

/** Computes CRC-32C (RFC 3720, appendix B.4). */
export function crc32c(data: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of data) crc = TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}
