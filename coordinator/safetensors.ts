import { endianness } from 'node:os'

/** A flat tensor: its element type follows from the array. */
export type FlatTensor = Int32Array | Uint8Array | Float32Array

const dtypeOf = (data: FlatTensor): string =>
  data instanceof Int32Array ? 'I32' : data instanceof Float32Array ? 'F32' : 'U8'

/**
 * Encodes one-dimensional tensors in the safetensors format: u64 header length, JSON header padded with spaces to eight
 * bytes, raw little-endian data.
 */
export function encodeSafetensors(tensors: Readonly<Record<string, FlatTensor>>): Uint8Array {
  if (endianness() !== 'LE') throw new Error('safetensors are little-endian; this machine is not')
  let offset = 0
  const header = Object.fromEntries(
    Object.entries(tensors).map(([name, data]) => {
      const start = offset
      offset += data.byteLength
      return [name, { dtype: dtypeOf(data), shape: [data.length], data_offsets: [start, offset] }]
    }),
  )
  const json = JSON.stringify(header)
  const padded = Buffer.from(json.padEnd(Math.ceil(Buffer.byteLength(json) / 8) * 8))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(padded.length))
  const parts = Object.values(tensors).map((data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength))
  return Buffer.concat([length, padded, ...parts])
}
