import { constants } from 'node:fs'
import { copyFile, type FileHandle, open, rename, rm } from 'node:fs/promises'
import { checkAdapterFile } from './adapter-check.js'
import { EngineError } from './errors.js'
import { GGML_BF16, GGML_F16, GGML_F32, type GgufTensor } from './gguf.js'
import { readGgufFile, readModelFile } from './gguf-file.js'
import { fromBfloat, fromHalf, toBfloat, toHalf } from './half-floats.js'
import type { AdapterShape } from './types.js'

/** Reads and writes one type of weights. Values beyond its range become infinite. */
interface Precision {
  readonly bytes: 2 | 4
  readonly read: (view: DataView, at: number) => number
  readonly write: (view: DataView, at: number, value: number) => void
}

const PRECISIONS: Readonly<Record<number, Precision>> = {
  [GGML_F32]: {
    bytes: 4,
    read: (view, at) => view.getFloat32(at, true),
    write: (view, at, value) => view.setFloat32(at, value, true),
  },
  [GGML_F16]: {
    bytes: 2,
    read: (view, at) => fromHalf(view.getUint16(at, true)),
    write: (view, at, value) => view.setUint16(at, toHalf(value), true),
  },
  [GGML_BF16]: {
    bytes: 2,
    read: (view, at) => fromBfloat(view.getUint16(at, true)),
    write: (view, at, value) => view.setUint16(at, toBfloat(value), true),
  },
}

/** Bytes of weights in memory at a time. */
const SLAB_BYTES = 8 * 2 ** 20

export interface MergeFiles {
  /** GGUF of the base model, in floating point. */
  readonly base: string
  readonly adapter: string
  /** Path of the merged model, which replaces an existing file and never exists in part. */
  readonly merged: string
}

/**
 * Writes a base model with an adapter merged into its weights, `W + alpha / rank * B A`, for programs without adapters. Metadata and
 * types of the tensors do not change, so each changed weight is rounded once, to the base's type.
 * @param shape  the published shape of the adapter
 * @throws EngineError `adapter_refused`; `model_refused`, also for a quantised base, which would be quantised a second time
 */
export async function mergeAdapter(
  { base, adapter, merged }: MergeFiles,
  shape: AdapterShape | undefined,
  signal: AbortSignal,
): Promise<void> {
  const model = readModelFile(base)
  await checkAdapterFile(adapter, model, shape, signal)
  const { tensors: factors, metadata } = readGgufFile(adapter, 'adapter')
  const adapted = [...factors.keys()].filter((name) => name.endsWith('.lora_a')).map((name) => name.slice(0, -7))
  for (const name of adapted) {
    if (PRECISIONS[model.tensors.get(name)!.type]) continue
    throw new EngineError(
      'model_refused',
      `${base} is quantised (${name}), but merging needs weights of float32, float16 or bfloat16: name such a file of the same model, and quantise the result`,
    )
  }
  const temporary = `${merged}.${process.pid}.tmp`
  try {
    await copyFile(base, temporary, constants.COPYFILE_FICLONE)
    const [weights, source] = [await open(temporary, 'r+'), await open(adapter, 'r')]
    try {
      for (const name of adapted) {
        const [a, b] = [factors.get(`${name}.lora_a`)!, factors.get(`${name}.lora_b`)!]
        const rank = a.shape[1]!
        const alpha = metadata.get('adapter.lora.alpha') as number
        // In llama.cpp an alpha of 0 means a scale of 1.
        const change = {
          a: await readAll(source, a),
          b: await readAll(source, b),
          rank,
          scale: alpha === 0 ? 1 : alpha / rank,
        }
        await addTo(weights, { name, tensor: model.tensors.get(name)! }, change, signal)
      }
      await weights.sync()
    } finally {
      await Promise.all([weights.close(), source.close()])
    }
    await rename(temporary, merged)
  } finally {
    await rm(temporary, { force: true })
  }
}

/** The low-rank factors of a change: `a` has `rank` rows as wide as the weights, `b` has `rank` values for each row of the weights. */
interface Change {
  readonly a: Float32Array
  readonly b: Float32Array
  readonly rank: number
  readonly scale: number
}

async function addTo(
  file: FileHandle,
  { name, tensor: { shape, start, type } }: { readonly name: string; readonly tensor: GgufTensor },
  { a, b, rank, scale }: Change,
  signal: AbortSignal,
): Promise<void> {
  const { bytes, read, write } = PRECISIONS[type]!
  const [width, rows] = shape as [number, number]
  const rowsAtOnce = Math.max(1, Math.floor(SLAB_BYTES / (width * bytes)))
  const delta = new Float64Array(width)
  for (let first = 0; first < rows; first += rowsAtOnce) {
    signal.throwIfAborted()
    const count = Math.min(rowsAtOnce, rows - first)
    const view = await readView(file, start + first * width * bytes, count * width * bytes)
    for (let row = 0; row < count; row++) {
      delta.fill(0)
      for (let k = 0; k < rank; k++) {
        const factor = scale * b[(first + row) * rank + k]!
        for (let i = 0; i < width; i++) delta[i]! += factor * a[k * width + i]!
      }
      for (let i = 0; i < width; i++) {
        const at = (row * width + i) * bytes
        write(view, at, read(view, at) + delta[i]!)
        if (!Number.isFinite(read(view, at)))
          throw new EngineError('adapter_refused', `a merged weight of ${name} exceeds the range of the base's type`)
      }
    }
    await file.write(new Uint8Array(view.buffer), 0, view.byteLength, start + first * width * bytes)
  }
}

async function readAll(file: FileHandle, { start, sizeBytes, type }: GgufTensor): Promise<Float32Array> {
  const { bytes, read } = PRECISIONS[type]!
  const view = await readView(file, start, sizeBytes)
  return Float32Array.from({ length: sizeBytes / bytes }, (_, i) => read(view, i * bytes))
}

async function readView(file: FileHandle, start: number, length: number): Promise<DataView> {
  const piece = new Uint8Array(length)
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(piece, filled, length - filled, start + filled)
    if (bytesRead === 0) throw new EngineError('model_refused', 'a file became shorter while it was read')
    filled += bytesRead
  }
  return new DataView(piece.buffer)
}
