import fc from 'fast-check'

/** Encoded protobuf as its fields, so that a mutation can keep the framing whole while the content lies. */
export interface Field {
  readonly number: number
  readonly wire: number
  /** Varint or fixed bytes as they are; the content of a length-delimited field. */
  readonly content: Uint8Array
}

/** @throws RangeError when an earlier change broke the framing */
export function fieldsOf(data: Uint8Array): Field[] {
  const fields: Field[] = []
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = data[at++]
      if (byte === undefined) throw new RangeError('broken framing')
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
  }
  while (at < data.length) {
    const tag = varint()
    const start = at
    const wire = tag % 8
    if (wire === 0) varint()
    const length = wire === 2 ? varint() : wire === 1 ? 8 : wire === 5 ? 4 : 0
    const from = wire === 2 ? at : start
    at += length
    if (at > data.length) throw new RangeError('broken framing')
    fields.push({ number: Math.floor(tag / 8), wire, content: data.slice(from, at) })
  }
  return fields
}

export function varintOf(value: number, padding = 0): number[] {
  const bytes: number[] = []
  let rest = value
  do {
    bytes.push(rest % 128)
    rest = Math.floor(rest / 128)
  } while (rest > 0)
  for (let i = 0; i < padding; i++) bytes.push(0)
  return bytes.map((byte, i) => (i < bytes.length - 1 ? byte | 0x80 : byte))
}

export function encodeFields(fields: readonly Field[], lengthLie = 0): Uint8Array {
  return new Uint8Array(
    Buffer.concat(
      fields.map(({ number, wire, content }) =>
        Buffer.concat([
          Uint8Array.from(varintOf(number * 8 + wire)),
          Uint8Array.from(wire === 2 ? varintOf(Math.max(0, content.length + lengthLie)) : []),
          content,
        ]),
      ),
    ),
  )
}

const double = (value: number): Uint8Array => new Uint8Array(new Float64Array([value]).buffer)
const float = (value: number): Uint8Array => new Uint8Array(new Float32Array([value]).buffer)
const text = (value: string): Uint8Array => new Uint8Array(Buffer.from(value))

/** Contents that parsers stumble over, by wire type. */
const CONTENTS: Readonly<Record<number, readonly Uint8Array[]>> = {
  0: [
    Uint8Array.of(0),
    Uint8Array.of(2),
    Uint8Array.from(varintOf(2 ** 32 - 1)),
    Uint8Array.from(varintOf(2 ** 32)),
    Uint8Array.from(varintOf(2 ** 34)),
    Uint8Array.from(varintOf(1, 3)),
    Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
  ],
  1: [
    Number.NaN,
    -Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    -0,
    5e-324,
    2 ** 53 + 2,
    -1,
    0.5,
  ].map(double),
  2: [
    new Uint8Array(),
    Uint8Array.of(0xff),
    Uint8Array.of(0xed, 0xa0, 0x80),
    Uint8Array.of(0xf4, 0x90, 0x80, 0x80),
    Uint8Array.of(0xc0, 0x80),
    Uint8Array.of(0xe2, 0x82),
    new Uint8Array(33).fill(0xff),
    new Uint8Array(16).fill(7),
    new Uint8Array(32).fill(7),
    new Uint8Array(300).fill(0x61),
    new Uint8Array(64).fill(0x80),
    text('__proto__'),
    text('constructor'),
    text('toString'),
    text('\0\x1b[2J'),
    text('\u202eabc'),
    text('😀'.repeat(20)),
    text('{"__proto__":{"x":1}}'),
    float(Number.NaN),
    float(-0),
    float(Number.NEGATIVE_INFINITY),
  ],
  5: [Number.NaN, -0, 1].map(float),
}

/** One change: at a field found by walking down `path`, of `kind`, with numbers to choose by. */
export interface Change {
  readonly path: readonly number[]
  readonly kind: 'content' | 'wire' | 'number' | 'twice' | 'drop' | 'swap' | 'lie' | 'many' | 'splice' | 'empty'
  readonly pick: number
}

export const change: fc.Arbitrary<Change> = fc.record({
  path: fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }),
  kind: fc.constantFrom(
    ...([
      'content',
      'content',
      'content',
      'wire',
      'number',
      'twice',
      'drop',
      'swap',
      'lie',
      'many',
      'splice',
      'empty',
    ] as const),
  ),
  pick: fc.nat(10_000),
})

/** @param donor  another message, whose fields `splice` puts in */
export function changed(data: Uint8Array, { path, kind, pick }: Change, donor: Uint8Array): Uint8Array {
  const fields = fieldsOf(data)
  if (fields.length === 0) return data
  const [step, ...deeper] = path as [number, ...number[]]
  const at = step % fields.length
  const field = fields[at]!
  if (deeper.length > 0 && field.wire === 2 && isMessage(field.content)) {
    fields[at] = { ...field, content: changed(field.content, { path: deeper, kind, pick }, donor) }
    return encodeFields(fields)
  }
  const choices = CONTENTS[field.wire] ?? []
  switch (kind) {
    case 'content':
      fields[at] = { ...field, content: choices[pick % choices.length] ?? field.content }
      break
    case 'wire': {
      const wire = [0, 1, 2, 3, 4, 5, 6, 7][pick % 8]!
      fields[at] = { ...field, wire, content: CONTENTS[wire]?.[0] ?? field.content }
      break
    }
    case 'number':
      fields[at] = { ...field, number: [0, 1, 2, 3, 4, 5, 6, 13, 15, 16, 536_870_911][pick % 11]! }
      break
    case 'twice':
      fields.splice(pick % (fields.length + 1), 0, field)
      break
    case 'drop':
      fields.splice(at, 1)
      break
    case 'swap':
      fields.push(...fields.splice(at, 1))
      break
    case 'lie':
      return encodeFields(fields, [1, -1, 2 ** 31, 2 ** 32, 100][pick % 5]!)
    case 'many':
      return encodeFields([...fields, ...Array.from({ length: 1 + (pick % 400) }, () => field)])
    case 'splice':
      fields.splice(at, 1, ...fieldsOf(donor).slice(0, 1 + (pick % 3)))
      break
    case 'empty':
      fields[at] = { ...field, content: new Uint8Array() }
      break
  }
  return encodeFields(fields)
}

/** All changes, or those before one that finds the framing broken. */
export function changedBy(data: Uint8Array, changes: readonly Change[], donor: Uint8Array): Uint8Array {
  let result = data
  try {
    for (const one of changes) result = changed(result, one, donor)
  } catch (why) {
    if (!(why instanceof RangeError)) throw why
  }
  return result
}

function isMessage(content: Uint8Array): boolean {
  if (content.length === 0) return false
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let i = 0; i < 10; i++) {
      const byte = content[at++]
      if (byte === undefined) return Number.NaN
      value += (byte & 0x7f) * 128 ** i
      if (byte < 0x80) return value
    }
    return Number.NaN
  }
  while (at < content.length) {
    const tag = varint()
    const wire = tag % 8
    const length = wire === 0 ? varint() * 0 : wire === 1 ? 8 : wire === 5 ? 4 : wire === 2 ? varint() : Number.NaN
    if (tag < 8 || Number.isNaN(length)) return false
    at += length
  }
  return at === content.length
}
