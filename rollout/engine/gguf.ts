import { EngineError, type EngineErrorCode } from './errors.js'

/** A list of the metadata. */
export interface GgufList {
  readonly elementType: number
  readonly count: number
  /** The entries of a list of numbers or booleans with at most `MAX_LIST_READ` entries, which is one entry per layer; otherwise null. */
  readonly entries: readonly (number | boolean)[] | null
}

export type GgufValue = string | number | boolean | GgufList

export interface GgufTensor {
  /** Innermost dimension first, as the format stores them. */
  readonly shape: readonly number[]
  /** ggml type. */
  readonly type: number
  /** Offset of the data in the file, in bytes. */
  readonly start: number
  readonly sizeBytes: number
}

export interface GgufHeader {
  readonly metadata: ReadonlyMap<string, GgufValue>
  readonly tensors: ReadonlyMap<string, GgufTensor>
}

/** Random access to the bytes of a file. */
export interface GgufSource {
  readonly sizeBytes: number
  /** Returns `length` bytes from `start` on, which are within the file. */
  read(start: number, length: number): Uint8Array
}

export const GGML_F32 = 0
export const GGML_F16 = 1
export const GGML_BF16 = 30

/** Bytes of a base model's header: a vocabulary of 250,000 tokens with its merges has some 15 MB. */
export const MAX_MODEL_HEADER_BYTES = 128 * 2 ** 20
/** Bytes of an adapter's header: 500 pairs of factors have some 100 KB. */
export const MAX_ADAPTER_HEADER_BYTES = 4 * 2 ** 20
const MAX_KEYS = 4096
const MAX_TENSORS = 65_536
const MAX_LIST = 4 * 2 ** 20
/** More layers than any model has. */
const MAX_LIST_READ = 1024
const MAX_STRING_BYTES = 2 ** 20
const MAX_KEY_BYTES = 256
/** ggml keeps 64 bytes for a name, its final zero among them. */
const MAX_NAME_BYTES = 63
const MAX_DIMENSIONS = 4
const MAX_ALIGNMENT = 4096
const WINDOW_BYTES = 256 * 1024

const MAGIC = 0x46554747
const STRING = 8
const LIST = 9
/** Bytes of the scalar metadata types: u8, i8, u16, i16, u32, i32, f32, bool, string, list, u64, i64, f64. */
const SCALAR_BYTES = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8]

/** Elements and bytes of one block of each ggml type (ggml.c of the bundled llama.cpp; gguf-py `GGML_QUANT_SIZES`). */
const BLOCKS: Readonly<Record<number, readonly [elements: number, bytes: number]>> = {
  [GGML_F32]: [1, 4],
  [GGML_F16]: [1, 2],
  2: [32, 18],
  3: [32, 20],
  6: [32, 22],
  7: [32, 24],
  8: [32, 34],
  9: [32, 40],
  10: [256, 84],
  11: [256, 110],
  12: [256, 144],
  13: [256, 176],
  14: [256, 210],
  15: [256, 292],
  16: [256, 66],
  17: [256, 74],
  18: [256, 98],
  19: [256, 50],
  20: [32, 18],
  21: [256, 110],
  22: [256, 82],
  23: [256, 136],
  24: [1, 1],
  25: [1, 2],
  26: [1, 4],
  27: [1, 8],
  28: [1, 8],
  29: [256, 56],
  [GGML_BF16]: [1, 2],
  34: [256, 54],
  35: [256, 66],
  39: [32, 17],
}

/**
 * Reads the header of an untrusted GGUF file (versions 2 and 3) before llama.cpp opens it, whose native code checks too little.
 * Every count and length is bounded before memory is allocated for it. The tensors must be within the file, one after the other, as
 * llama.cpp's writer orders them.
 * @param what  decides the maximal size of the header, and the error code
 * @throws EngineError `model_refused` or `adapter_refused`, and no other error
 */
export function readGguf(source: GgufSource, what: 'model' | 'adapter'): GgufHeader {
  const code = `${what}_refused` as const
  const cursor = createCursor(source, what === 'model' ? MAX_MODEL_HEADER_BYTES : MAX_ADAPTER_HEADER_BYTES, code)
  const refuse = (detail: string): EngineError => new EngineError(code, detail)
  if (cursor.u32() !== MAGIC) throw refuse('the file is not a GGUF file')
  const version = cursor.u32()
  if (version !== 2 && version !== 3) throw refuse(`the GGUF version is ${version}, only 2 and 3 are supported`)
  const tensorCount = cursor.count(MAX_TENSORS, 'tensors')
  const keyCount = cursor.count(MAX_KEYS, 'metadata keys')
  const metadata = new Map<string, GgufValue>()
  for (let i = 0; i < keyCount; i++) {
    const key = cursor.text(MAX_KEY_BYTES, 'a metadata key')
    if (metadata.has(key)) throw refuse(`the key ${printable(key)} occurs twice`)
    metadata.set(key, readValue(cursor, key, refuse))
  }
  const alignment = metadata.get('general.alignment') ?? 32
  if (typeof alignment !== 'number' || alignment < 8 || alignment > MAX_ALIGNMENT || Math.log2(alignment) % 1 !== 0)
    throw refuse(`the alignment is ${String(alignment)} bytes`)

  const tensors = new Map<string, GgufTensor>()
  let end = 0
  for (let i = 0; i < tensorCount; i++) {
    const name = cursor.text(MAX_NAME_BYTES, 'a tensor name')
    if (tensors.has(name)) throw refuse(`the tensor ${printable(name)} occurs twice`)
    const { offset, ...tensor } = readTensor(cursor, name, refuse)
    if (offset !== end) throw refuse(`the tensor ${printable(name)} begins at ${offset}, not at ${end}`)
    tensors.set(name, { ...tensor, start: offset })
    end = padded(offset + tensor.sizeBytes, alignment)
  }
  const base = padded(cursor.at, alignment)
  for (const [name, tensor] of tensors) {
    const start = base + tensor.start
    if (start + tensor.sizeBytes > source.sizeBytes) throw refuse(`the file ends within the tensor ${printable(name)}`)
    tensors.set(name, { ...tensor, start })
  }
  return { metadata, tensors }
}

type Refuse = (detail: string) => EngineError

function readValue(cursor: Cursor, key: string, refuse: Refuse): GgufValue {
  const type = cursor.u32()
  if (type !== LIST) return cursor.scalar(type, key)
  const elementType = cursor.u32()
  const count = cursor.count(MAX_LIST, `entries of ${printable(key)}`)
  const width = SCALAR_BYTES[elementType]
  if (width && count <= MAX_LIST_READ) {
    const entries = Array.from({ length: count }, () => cursor.scalar(elementType, key) as number | boolean)
    return { elementType, count, entries }
  }
  if (elementType === STRING) for (let i = 0; i < count; i++) cursor.skip(cursor.count(MAX_STRING_BYTES, 'a text'))
  else if (width) cursor.skip(count * width)
  else throw refuse(`${printable(key)} is a list of type ${elementType}`)
  return { elementType, count, entries: null }
}

function readTensor(
  cursor: Cursor,
  name: string,
  refuse: Refuse,
): Omit<GgufTensor, 'start'> & { readonly offset: number } {
  const dimensions = cursor.u32()
  if (dimensions < 1 || dimensions > MAX_DIMENSIONS)
    throw refuse(`the tensor ${printable(name)} has ${dimensions} dimensions`)
  const shape = Array.from({ length: dimensions }, () => cursor.count(2 ** 31 - 1, `width of ${printable(name)}`))
  const type = cursor.u32()
  const offset = cursor.count(Number.MAX_SAFE_INTEGER, `place of ${printable(name)}`)
  const [elements, bytes] = BLOCKS[type] ?? [0, 0]
  if (elements === 0) throw refuse(`the tensor ${printable(name)} has the unknown type ${type}`)
  const size = shape.reduce((product, width) => product * width, 1)
  if (size < 1 || shape[0]! % elements !== 0 || !Number.isSafeInteger(size * bytes))
    throw refuse(`the tensor ${printable(name)} of ${shape.join(' x ')} does not fit its type`)
  return { shape, type, offset, sizeBytes: (size / elements) * bytes }
}

interface Cursor {
  readonly at: number
  u32(): number
  /** Reads a 64-bit number of at most `most`. */
  count(most: number, what: string): number
  text(mostBytes: number, what: string): string
  scalar(type: number, key: string): string | number | boolean
  skip(bytes: number): void
}

/** Reads the header through a window, so that a file of any size needs the same memory. */
function createCursor(source: GgufSource, mostBytes: number, code: EngineErrorCode): Cursor {
  const end = Math.min(source.sizeBytes, mostBytes)
  let at = 0
  let window: DataView = new DataView(new ArrayBuffer(0))
  let windowStart = 0

  const skip = (bytes: number): void => {
    if (bytes > end - at) {
      const why = end < source.sizeBytes ? `the header has more than ${end} bytes` : 'the file ends within its header'
      throw new EngineError(code, why)
    }
    at += bytes
  }
  /** Returns the offset of the next `bytes` bytes in the window. */
  const take = (bytes: number): number => {
    const start = at
    skip(bytes)
    if (start < windowStart || at > windowStart + window.byteLength) {
      const read = source.read(start, Math.min(Math.max(bytes, WINDOW_BYTES), end - start))
      window = new DataView(read.buffer, read.byteOffset, read.byteLength)
      windowStart = start
    }
    return start - windowStart
  }
  const u32 = (): number => {
    const place = take(4)
    return window.getUint32(place, true)
  }
  const count = (most: number, what: string): number => {
    const place = take(8)
    const value = window.getUint32(place, true) + window.getUint32(place + 4, true) * 2 ** 32
    if (value > most) throw new EngineError(code, `${what}: ${value}, at most ${most}`)
    return value
  }
  const text = (mostBytes: number, what: string): string => {
    const length = count(mostBytes, what)
    const place = take(length)
    try {
      return UTF8.decode(new Uint8Array(window.buffer, window.byteOffset + place, length))
    } catch (cause) {
      throw new EngineError(code, `${what} is not UTF-8`, { cause })
    }
  }
  return {
    get at() {
      return at
    },
    u32,
    count,
    text,
    skip,
    scalar(type, key) {
      if (type === STRING) return text(MAX_STRING_BYTES, printable(key))
      const width = SCALAR_BYTES[type]
      if (!width) throw new EngineError(code, `${printable(key)} has the unknown type ${type}`)
      const place = take(width)
      switch (type) {
        case 0:
          return window.getUint8(place)
        case 1:
          return window.getInt8(place)
        case 2:
          return window.getUint16(place, true)
        case 3:
          return window.getInt16(place, true)
        case 4:
          return window.getUint32(place, true)
        case 5:
          return window.getInt32(place, true)
        case 6:
          return window.getFloat32(place, true)
        case 7:
          return window.getUint8(place) !== 0
        case 12:
          return window.getFloat64(place, true)
        default:
          return Number(type === 10 ? window.getBigUint64(place, true) : window.getBigInt64(place, true))
      }
    },
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const padded = (bytes: number, alignment: number): number => Math.ceil(bytes / alignment) * alignment

/** Quotes and shortens a name from a file, for messages. */
export const printable = (name: string): string => JSON.stringify(name.slice(0, 80))
