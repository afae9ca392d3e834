import { fromHex, type Sha256, sha256, toHex } from './content-id.js'
import { refusal } from './errors.js'
import type { BlobDescription } from './manifest.js'

/**
 * A manifest lists the chunks of its files. A base model has too many chunks for the manifest of every round. Its list is fetched once,
 * as a chunk named by the list's hash. The list of 16 GiB takes 512 KiB, so one chunk is always enough.
 */
const HASH_BYTES = 32

/** Concatenates the hashes of a blob's chunks. */
export const chunkListOf = ({ chunkSha256s }: Pick<BlobDescription, 'chunkSha256s'>): Uint8Array =>
  fromHex(chunkSha256s.join(''))

export const chunkListSha256 = (blob: Pick<BlobDescription, 'chunkSha256s'>): Sha256 => sha256(chunkListOf(blob))

/** Reads a chunk list. @throws SwarmRefusal `malformed` if it has another number of hashes */
export function readChunkList(data: Uint8Array, chunks: number): readonly Sha256[] {
  if (data.length !== chunks * HASH_BYTES)
    throw refusal('malformed', `${data.length / HASH_BYTES} chunk hashes for ${chunks} chunks`)
  return Array.from({ length: chunks }, (_, i) => toHex(data.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES)))
}
