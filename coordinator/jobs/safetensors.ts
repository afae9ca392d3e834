import { endianness } from 'node:os'
import { z } from 'zod'

/** A one-dimensional tensor. Its element type follows from the array. */
export type FlatTensor = Int32Array | Uint32Array | Uint8Array | Float32Array | Float64Array

const dtypeOf = (data: FlatTensor): string => {
  if (data instanceof Float64Array) return 'F64'
  if (data instanceof Float32Array) return 'F32'
  if (data instanceof Int32Array) return 'I32'
  return data instanceof Uint32Array ? 'U32' : 'U8'
}

/**
 * Encodes one-dimensional tensors in the safetensors format: u64 header length, JSON header padded with spaces to eight
 * bytes, raw little-endian data.
 */
export function encodeSafetensors(tensors: Readonly<Record<string, FlatTensor>>): Uint8Array {
  if (endianness() !== 'LE') throw new Error('safetensors are little-endian; this machine is big-endian')
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

const header = z.record(
  z.string().max(400),
  z.object({ dtype: z.string(), shape: z.array(z.int().min(0)), data_offsets: z.tuple([z.int().min(0), z.int()]) }),
)
const MAX_HEADER_BYTES = 65_536

/** Tensors of a file by name. Their offsets count from the end of the header. */
export type TensorTable = z.output<typeof header>

/** Parses the JSON header of a file. @throws Error */
export function parseHeader(json: Uint8Array): TensorTable {
  const { __metadata__: _, ...tensors } = JSON.parse(new TextDecoder().decode(json))
  return header.parse(tensors)
}

/**
 * Reads one-dimensional float64 tensors.
 * @param names  exactly the tensors that must exist
 * @throws Error that describes the fault
 */
export function decodeFloat64s<Name extends string>(
  bytes: Uint8Array,
  names: readonly Name[],
): Record<Name, Float64Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const length = bytes.length < 8 ? 0 : Number(view.getBigUint64(0, true))
  if (length < 2 || length > MAX_HEADER_BYTES || 8 + length > bytes.length) throw new Error('no safetensors header')
  const tensors = parseHeader(bytes.subarray(8, 8 + length))
  if (Object.keys(tensors).length !== names.length) throw new Error(`tensors ${Object.keys(tensors)}, not ${names}`)
  const found = names.map((name) => {
    const tensor = tensors[name]
    const [start, end] = tensor?.data_offsets ?? [0, -1]
    const count = tensor?.shape[0]
    const whole = tensor?.dtype === 'F64' && tensor.shape.length === 1 && end - start === 8 * count!
    if (!whole || 8 + length + end > bytes.length) throw new Error(`${name} is no flat F64 tensor within the file`)
    const from = 8 + length + start
    return [name, Float64Array.from({ length: count! }, (_, i) => view.getFloat64(from + 8 * i, true))] as const
  })
  return Object.fromEntries(found) as Record<Name, Float64Array>
}
