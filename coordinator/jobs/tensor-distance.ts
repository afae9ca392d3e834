import { type FileHandle, open } from 'node:fs/promises'
import { parseHeader, type TensorTable } from './safetensors.js'

const MAX_HEADER_BYTES = 16 * 2 ** 20
/** Values compared at a time. */
const SLAB = 2 ** 20

/** A file of float32 tensors, or of other tensors that are only compared byte by byte. */
interface TensorFile {
  readonly file: FileHandle
  readonly dataStart: number
  readonly tensors: TensorTable
}

/** Distance of two results of one update, in units of the norm of the update. */
export interface UpdateDistance {
  /** Euclidean norm of the published update. */
  readonly update: number
  /** Euclidean norm of the difference between the published and the computed result. */
  readonly difference: number
}

async function openTensors(path: string): Promise<TensorFile> {
  const file = await open(path, 'r')
  try {
    const head = Buffer.alloc(8)
    await file.read(head, 0, 8, 0)
    const length = Number(head.readBigUInt64LE())
    const { size } = await file.stat()
    if (length < 2 || length > MAX_HEADER_BYTES || 8 + length > size) throw new Error('no safetensors header')
    const json = Buffer.alloc(length)
    await file.read(json, 0, length, 8)
    const tensors = parseHeader(json)
    for (const [name, { dtype, shape, data_offsets: ends }] of Object.entries(tensors)) {
      const [from, to] = ends
      const values = shape.reduce((product, side) => product * side, 1)
      if (to < from || 8 + length + to > size || (dtype === 'F32' && to - from !== 4 * values))
        throw new Error(`the tensor ${name} is not within the file`)
    }
    return { file, dataStart: 8 + length, tensors }
  } catch (cause) {
    await file.close()
    throw new Error(`${path}: ${(cause as Error).message}`, { cause })
  }
}

/**
 * Compares the float32 tensors of a published file with those of a computed one, after one update from a parent.
 * @returns null: the files have other tensors, or tensors of other types differ
 * @throws Error for a file that is not in the safetensors format
 */
export async function updateDistance(paths: {
  readonly parent: string
  readonly published: string
  readonly made: string
}): Promise<UpdateDistance | null> {
  const files: TensorFile[] = []
  try {
    for (const path of [paths.parent, paths.published, paths.made]) files.push(await openTensors(path))
    const [parent, published, made] = files as [TensorFile, TensorFile, TensorFile]
    let [update, difference] = [0, 0]
    for (const [name, { dtype, data_offsets: ends }] of Object.entries(published.tensors)) {
      const sizeBytes = ends[1] - ends[0]
      const others = [parent, made].map((other) => {
        const tensor = other.tensors[name]
        return tensor?.dtype === dtype && tensor.data_offsets[1] - tensor.data_offsets[0] === sizeBytes
      })
      // The optimizer of the first step has no state yet.
      const [inParent, inMade] = others
      if (!inMade) return null
      for (let at = 0; at < sizeBytes; at += 4 * SLAB) {
        const length = Math.min(4 * SLAB, sizeBytes - at)
        const now = await slab(published, name, at, length)
        const again = await slab(made, name, at, length)
        if (dtype !== 'F32') {
          if (!now.equals(again)) return null
          continue
        }
        const before = inParent ? await slab(parent, name, at, length) : null
        for (let i = 0; i < length; i += 4) {
          const value = now.readFloatLE(i)
          update += (value - (before?.readFloatLE(i) ?? 0)) ** 2
          difference += (value - again.readFloatLE(i)) ** 2
        }
      }
    }
    const isSame = Object.keys(published.tensors).length === Object.keys(made.tensors).length
    return isSame ? { update: Math.sqrt(update), difference: Math.sqrt(difference) } : null
  } finally {
    for (const { file } of files) await file.close()
  }
}

async function slab({ file, dataStart, tensors }: TensorFile, name: string, at: number, length: number) {
  const bytes = Buffer.alloc(length)
  await file.read(bytes, 0, length, dataStart + tensors[name]!.data_offsets[0] + at)
  return bytes
}
