import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkout } from './checkout.js'
import { buildGguf, type Metadata, type TensorPlan } from './gguf-builder.js'

/** Headers of published models: metadata and tensors, without weights and words of the vocabulary. Each names its source. */

interface List {
  readonly list: 'STRING' | 'INT32'
  readonly count: number
  /** Value of every entry. */
  readonly entries?: number
}
type Scalar = readonly [type: 'UINT32' | 'FLOAT32' | 'STRING' | 'BOOL', value: number | string | boolean]
export interface RecordedHeader {
  readonly source: string
  readonly metadata: Readonly<Record<string, Scalar | List>>
  /** By name, with N for the number of the layer. */
  readonly tensors: Readonly<Record<string, readonly [shape: number[], type: keyof typeof TYPES]>>
}

/** ggml's number of a type, and the elements and bytes of a block. */
const TYPES = { F32: [0, 1, 4], F16: [1, 1, 2], Q4_1: [3, 32, 20], Q8_0: [8, 32, 34] } as const
const SCALARS = { UINT32: 'u32', FLOAT32: 'f32', STRING: 'str', BOOL: 'bool' } as const

export const readHeader = (name: string): RecordedHeader =>
  JSON.parse(readFileSync(join(checkout, 'test', 'fixtures', 'headers', `${name}.json`), 'utf8')) as RecordedHeader

/**
 * Writes a file with this header, and a hole in place of the weights.
 * @param template  chat template; default: the recorded one
 * @param asBase  whether matrices are float16, as `prove-coordinator base` writes them
 */
export function writeHeader(
  path: string,
  { metadata, tensors }: RecordedHeader,
  { template, asBase }: { readonly template?: string; readonly asBase: boolean },
): void {
  const architecture = metadata['general.architecture'] as Scalar
  const layers = (metadata[`${architecture[1]}.block_count`] as Scalar)[1] as number
  const written: Record<string, Metadata[string]> = {}
  for (const [key, value] of Object.entries(metadata)) {
    if ('list' in value) {
      const { list, count, entries } = value
      written[key] =
        list === 'STRING'
          ? { strings: Array.from({ length: count }, (_, i) => `t${i}`) }
          : { ints: count, ...(entries === undefined ? {} : { value: entries }) }
    } else written[key] = [SCALARS[value[0]], value[1]]
  }
  if (template !== undefined) written['tokenizer.chat_template'] = ['str', template]
  if (asBase) written['general.file_type'] = ['u32', 1]
  const plans: Record<string, TensorPlan> = {}
  let end = 0
  for (const [pattern, [shape, type]] of Object.entries(tensors)) {
    const [number, elements, bytes] = TYPES[asBase && shape.length > 1 ? 'F16' : type]
    const names = pattern.includes('N')
      ? Array.from({ length: layers }, (_, layer) => pattern.replace('N', String(layer)))
      : [pattern]
    for (const name of names) {
      plans[name] = { shape, type: number, offset: end, data: new Uint8Array() }
      const size = (shape.reduce((product, width) => product * width, 1) / elements) * bytes
      end = Math.ceil((end + size) / 32) * 32
    }
  }
  const header = buildGguf(written, plans)
  writeFileSync(path, header)
  truncateSync(path, header.length + end)
}
