/** Writes GGUF bytes for tests, well-formed or with any single error. */

export type Scalar = readonly ['u32' | 'f32' | 'str' | 'u64' | 'bool', number | string | boolean]
export type Metadata = Readonly<
  Record<string, Scalar | { readonly strings: readonly string[] } | { readonly ints: number; readonly value?: number }>
>

export interface TensorPlan {
  readonly shape: readonly number[]
  /** ggml type; 0 is float32, 1 float16. */
  readonly type?: number
  readonly data?: Uint8Array
  readonly offset?: number
}

const TYPE = { u32: 4, f32: 6, bool: 7, str: 8, u64: 10 } as const

export class Bytes {
  readonly parts: Uint8Array[] = []
  u32(value: number): this {
    return this.number(4, (view) => view.setUint32(0, value, true))
  }
  u64(value: number | bigint): this {
    return this.number(8, (view) => view.setBigUint64(0, BigInt(value), true))
  }
  text(value: string): this {
    const encoded = Buffer.from(value)
    this.u64(encoded.length).parts.push(encoded)
    return this
  }
  number(size: number, set: (view: DataView) => void): this {
    const bytes = new Uint8Array(size)
    set(new DataView(bytes.buffer))
    this.parts.push(bytes)
    return this
  }
  done(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.parts))
  }
}

export function buildGguf(metadata: Metadata, tensors: Readonly<Record<string, TensorPlan>>, version = 3): Uint8Array {
  const out = new Bytes()
    .u32(0x46554747)
    .u32(version)
    .u64(Object.keys(tensors).length)
    .u64(Object.keys(metadata).length)
  for (const [key, value] of Object.entries(metadata)) {
    out.text(key)
    if ('strings' in value) {
      out.u32(9).u32(8).u64(value.strings.length)
      for (const text of value.strings) out.text(text)
    } else if ('ints' in value) {
      out.u32(9).u32(5).u64(value.ints)
      for (let i = 0; i < value.ints; i++) out.u32(value.value ?? 1)
    } else writeScalar(out.u32(TYPE[value[0]]), value)
  }
  let offset = 0
  const data: Uint8Array[] = []
  for (const [name, plan] of Object.entries(tensors)) {
    const type = plan.type ?? 1
    const content = plan.data ?? new Uint8Array(plan.shape.reduce((size, width) => size * width, type === 0 ? 4 : 2))
    out.text(name).u32(plan.shape.length)
    for (const width of plan.shape) out.u64(width)
    out.u32(type).u64(plan.offset ?? offset)
    const padded = new Uint8Array(Math.ceil(content.length / 32) * 32)
    padded.set(content)
    data.push(padded)
    offset += padded.length
  }
  const header = out.done()
  const start = new Uint8Array(Math.ceil(header.length / 32) * 32)
  start.set(header)
  return new Uint8Array(Buffer.concat([start, ...data]))
}

function writeScalar(out: Bytes, [kind, value]: Scalar): void {
  if (kind === 'str') out.text(String(value))
  else if (kind === 'u32') out.u32(Number(value))
  else if (kind === 'u64') out.u64(Number(value))
  else if (kind === 'bool') out.number(1, (view) => view.setUint8(0, Number(value)))
  else out.number(4, (view) => view.setFloat32(0, Number(value), true))
}

export const sourceOf = (bytes: Uint8Array) => ({
  sizeBytes: bytes.length,
  read: (start: number, length: number): Uint8Array => {
    if (start < 0 || length < 0 || start + length > bytes.length)
      throw new Error(`read ${start}+${length} of ${bytes.length}`)
    return bytes.slice(start, start + length)
  },
})
