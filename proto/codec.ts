import { refusal, SwarmRefusal } from './errors.js'
import { LIMITS, type LimitName } from './limits.js'
import { checkShape, type WireShape } from './wire-shape.js'

/** Turns one kind of message into bytes and hostile bytes back into it. */
export interface Codec<T> {
  /** Largest encoding. */
  readonly maxBytes: number
  /**
   * Never produces what `parse` would refuse.
   * @throws SwarmRefusal when the value is out of bounds: the caller's fault, found before it is sent
   */
  encode(value: T): Uint8Array
  /** @throws SwarmRefusal and nothing else, whatever the bytes are */
  parse(data: Uint8Array): T
}

interface Generated<Properties> {
  encode(properties: Properties): { finish(): Uint8Array }
  decode(data: Uint8Array): unknown
}

/**
 * What decoding yields: the generated classes give every scalar and list a default, and leave only submessages out.
 * Their declarations call everything optional, because they describe what may be given to the encoder.
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
  /** Further bytes around what `limit` is about. */
  readonly slack?: LimitName
  readonly shape: WireShape
  /** Different fields that may occur together, for a message that is or holds a `oneof`. */
  readonly maxFields?: number
  readonly type: Generated<Properties>
  /** Checks counts, ranges and finiteness. */
  read(wire: Decoded<Properties>): T
  write(value: T): Properties
}

/** One codec out of the generated protobuf class: size, then shape, then values. */
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
    // The generated code has no type for its results in which submessages are as complete as the message itself.
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
