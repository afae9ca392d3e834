import { refusal } from './errors.js'

/** Protobuf wire types in use: varint, 8 bytes, length-delimited, 4 bytes. */
export type WireType = 0 | 1 | 2 | 5

export interface FieldShape {
  readonly wire: WireType
  /** Largest number of occurrences. A packed list counts as one. */
  readonly max: number
  readonly shape?: WireShape
  /** Element width of a packed list in bytes; 0 for varints. */
  readonly packed?: 0 | 4 | 8
}

/** The fields that a message may contain, by field number. No other field may occur. */
export type WireShape = Readonly<Record<number, FieldShape>>

export const number = (max = 1): FieldShape => ({ wire: 0, max })
export const double = (max = 1): FieldShape => ({ wire: 1, max })
/** Bytes or a string. */
export const bytes = (max = 1): FieldShape => ({ wire: 2, max })
export const packed = (element: 0 | 4 | 8): FieldShape => ({ wire: 2, max: 1, packed: element })
export const message = (shape: WireShape, max = 1): FieldShape => ({ wire: 2, max, shape })

/**
 * Checks the tags of an encoded message before the decoder allocates anything. Without this check, 1 MiB of empty submessages becomes half
 * a million objects. It also refuses unknown fields, repeated single fields and groups.
 * @param maxFields  number of different top-level fields that may occur together; of a `oneof`, the decoder would keep the last one
 * @throws SwarmRefusal `malformed` for broken framing and unexpected fields, `too_large` for too many entries
 */
export function checkShape(
  data: Uint8Array,
  shape: WireShape,
  what: string,
  maxFields = Number.POSITIVE_INFINITY,
): void {
  const fields = walk(data, 0, data.length, shape, what)
  if (fields > maxFields)
    throw refusal('malformed', `${what} has ${fields} fields, at most ${maxFields} may occur together`)
}

function walk(data: Uint8Array, from: number, end: number, shape: WireShape, what: string): number {
  const seen = new Map<number, number>()
  let at = from
  const varint = (): number => {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = at < end ? data[at++] : undefined
      if (byte === undefined) throw refusal('malformed', `${what} ends within a number`)
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw refusal('malformed', `${what} contains a number of more than 5 bytes`)
  }
  while (at < end) {
    const tag = varint()
    const field = Math.floor(tag / 8)
    const expected = Object.hasOwn(shape, field) ? shape[field] : undefined
    if (!expected || expected.wire !== tag % 8) {
      throw refusal('malformed', `${what} has an unexpected field ${field} of wire type ${tag % 8}`)
    }
    const count = (seen.get(field) ?? 0) + 1
    seen.set(field, count)
    if (count > expected.max) throw refusal('too_large', `${what} has more than ${expected.max} of field ${field}`)
    if (expected.wire === 0) varint()
    else {
      const length = expected.wire === 2 ? varint() : expected.wire === 1 ? 8 : 4
      if (length > end - at) throw refusal('malformed', `${what} ends within field ${field}`)
      if (expected.packed !== undefined) checkPacked(expected.packed, data, at, length, what)
      if (expected.shape) walk(data, at, at + length, expected.shape, `${what}.${field}`)
      at += length
    }
  }
  return seen.size
}

/** Checks that a list ends with its last element. Otherwise the decoder would read other fields than this check. */
function checkPacked(element: 0 | 4 | 8, data: Uint8Array, from: number, length: number, what: string): void {
  const whole = element === 0 ? length === 0 || (data[from + length - 1] ?? 0xff) < 0x80 : length % element === 0
  if (!whole) throw refusal('malformed', `${what} contains a list that ends within an element`)
}
