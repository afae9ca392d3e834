import { refusal, SwarmRefusal } from './errors.js'
import { LIMITS, type LimitName } from './limits.js'
import { checkShape, type WireShape } from './wire-shape.js'

/** Encodes one kind of message, and parses hostile bytes. */
export interface Codec<T> {
  /** Largest encoding in bytes. */
  readonly maxBytes: number
  /**
   * Encodes a value. Never returns bytes that `parse` would refuse.
   * @throws SwarmRefusal if the caller's value is out of bounds
   */
  encode(value: T): Uint8Array
  /** Parses bytes. @throws SwarmRefusal and no other error, for any input */
  parse(data: Uint8Array): T
}

interface Generated<Properties> {
  encode(properties: Properties): { finish(): Uint8Array }
  decode(data: Uint8Array): unknown
}

/**
 * The type of a decoded message. The generated classes give every scalar and list a default, and omit only submessages. Their
 * declarations make every member optional, because they describe the encoder's input.
 */
export type Decoded<Properties> = { readonly [K in keyof Properties]-?: DecodedField<NonNullable<Properties[K]>> }
type Plain = string | number | boolean | Uint8Array
type DecodedField<V> = V extends Plain
  ? V
  : V extends readonly (infer Entry)[]
    ? readonly (Entry extends Plain ? Entry : Decoded<Entry>)[]
    : Decoded<V> | null | undefined

interface CodecParts<T, Properties> {
  readonly what: string
  readonly limit: LimitName
  /** Bytes in addition to `limit`. */
  readonly slack?: LimitName
  readonly shape: WireShape
  /** Number of different fields that may occur together, for a message with a `oneof`. */
  readonly maxFields?: number
  readonly type: Generated<Properties>
  /** Checks counts, ranges and finiteness. */
  read(wire: Decoded<Properties>): T
  write(value: T): Properties
}

/** Creates a codec from the generated protobuf class. It checks size, then shape, then values. */
export function codec<T, Properties>(parts: CodecParts<T, Properties>): Codec<T> {
  const { what, limit, slack, shape, maxFields, type, read, write } = parts
  const maxBytes = LIMITS[limit].value + (slack ? LIMITS[slack].value : 0)
  const parse = (data: Uint8Array): T => {
    if (data.length > maxBytes) throw refusal('too_large', `${what}: ${data.length} > ${maxBytes} B (${limit})`)
    checkShape(data, shape, what, maxFields)
    return read(decode(type, data, what))
  }
  return {
    maxBytes,
    parse,
    encode: (value) => {
      const data = encode(type, write(value), what)
      parse(data)
      return data
    },
  }
}

function decode<Properties>(type: Generated<Properties>, data: Uint8Array, what: string): Decoded<Properties> {
  try {
    // The generated code has no type in which submessages are as complete as the message itself.
    return type.decode(data) as Decoded<Properties>
  } catch (cause) {
    throw refusal('malformed', `${what} cannot be decoded`, { cause })
  }
}

function encode<Properties>(type: Generated<Properties>, properties: Properties, what: string): Uint8Array {
  try {
    return type.encode(properties).finish()
  } catch (cause) {
    if (cause instanceof SwarmRefusal) throw cause
    throw refusal('malformed', `${what} cannot be encoded`, { cause })
  }
}
