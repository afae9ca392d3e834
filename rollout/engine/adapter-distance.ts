import { open } from 'node:fs/promises'
import { GGML_F16, type GgufTensor } from './gguf.js'
import { readGgufFile } from './gguf-file.js'
import { fromHalf } from './half-floats.js'

/**
 * Compares the float16 tensors of two adapters.
 * @param parent  the adapter before an update
 * @returns norms of the update and of the difference; null: the adapters do not have the same tensors and metadata
 * @throws EngineError `adapter_refused`
 */
export async function adapterDistance(
  parent: string,
  published: string,
  made: string,
): Promise<{ readonly update: number; readonly difference: number } | null> {
  const paths = [parent, published, made]
  const headers = paths.map((path) => readGgufFile(path, 'adapter'))
  const [, { tensors, metadata }] = headers as [unknown, (typeof headers)[number]]
  const isAlike = headers.every(
    (other) =>
      other.tensors.size === tensors.size &&
      [...metadata].every(([name, value]) => JSON.stringify(other.metadata.get(name)) === JSON.stringify(value)) &&
      [...tensors].every(([name, { type, sizeBytes }]) => {
        const same = other.tensors.get(name)
        return type === GGML_F16 && same?.type === type && same.sizeBytes === sizeBytes
      }),
  )
  if (!isAlike) return null
  const files = await Promise.all(paths.map((path) => open(path, 'r')))
  try {
    let [update, difference] = [0, 0]
    for (const name of tensors.keys()) {
      const [before, now, again] = await Promise.all(
        files.map(async (file, i) => {
          const { start, sizeBytes }: GgufTensor = headers[i]!.tensors.get(name)!
          const bytes = Buffer.alloc(sizeBytes)
          await file.read(bytes, 0, sizeBytes, start)
          return bytes
        }),
      )
      for (let at = 0; at < now!.length; at += 2) {
        const value = fromHalf(now!.readUInt16LE(at))
        update += (value - fromHalf(before!.readUInt16LE(at))) ** 2
        difference += (value - fromHalf(again!.readUInt16LE(at))) ** 2
      }
    }
    return { update: Math.sqrt(update), difference: Math.sqrt(difference) }
  } finally {
    await Promise.all(files.map((file) => file.close()))
  }
}
