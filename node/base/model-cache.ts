import { readdir, readFile, rm, stat, statfs, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { detailForWire, isSha256, type Sha256 } from '../../proto/index.js'
import { type BlobStore, createBlobStore, partialFiles } from '../../swarm/index.js'

/** A base model in the cache, complete or not. */
export interface CachedModel {
  readonly sha256: Sha256
  /** Name in the run's invitation. */
  readonly name: string
  /** Size on this disk. */
  readonly sizeBytes: number
  /** False: the download is incomplete. */
  readonly whole: boolean
  readonly usedAtMs: number
}

/** Base models by hash, shared by all runs of a data folder. */
export interface ModelCache {
  readonly store: BlobStore
  /** Records that a run uses the model, or is about to fetch it. */
  use(sha256: Sha256, name: string): Promise<void>
  /** Lists the models, the one used last first. */
  list(): Promise<readonly CachedModel[]>
  remove(sha256: Sha256): Promise<void>
  /** Returns the size of an incomplete download. */
  begunBytes(sha256: Sha256): Promise<number>
  /** Returns the free bytes of the disk for this user. */
  freeBytes(): Promise<number>
}

/** Suffix of the file with the name of a model. Its time is that of the last use. */
const NAME_SUFFIX = '.name'
/** Unit of `st_blocks` in POSIX. */
const BLOCK_BYTES = 512

/** Returns the folder of the base models in a data folder. */
export const modelFolder = (dataDir: string): string => join(dataDir, 'models')

/** Opens the cache of base models in a data folder. */
export async function openModelCache(dataDir: string): Promise<ModelCache> {
  const store = await createBlobStore(modelFolder(dataDir))
  const nameFile = (sha256: Sha256): string => `${store.path(sha256)}${NAME_SUFFIX}`
  const filesOf = (sha256: Sha256): string[] => [store.path(sha256), ...partialFiles(store.directory, sha256)]
  return {
    store,
    async use(sha256, name) {
      const file = nameFile(sha256)
      await writeFile(file, name)
      const now = new Date()
      await utimes(file, now, now)
    },
    async list() {
      const names = await readdir(store.directory)
      const hashes = new Set(names.map((name) => name.replace(/^\.(part|have)-|\.name$/g, '')).filter(isSha256))
      const models: CachedModel[] = []
      for (const sha256 of hashes) {
        const whole = names.includes(sha256)
        const noted = names.includes(sha256 + NAME_SUFFIX)
        const sizeBytes = sum(await Promise.all(filesOf(sha256).map(bytesOnDisk)))
        const name = noted ? detailForWire(await readFile(nameFile(sha256), 'utf8')) : 'unknown'
        const usedAtMs = noted ? (await stat(nameFile(sha256))).mtimeMs : 0
        models.push({ sha256, name, sizeBytes, whole, usedAtMs })
      }
      return models.sort((a, b) => b.usedAtMs - a.usedAtMs)
    },
    async remove(sha256) {
      for (const file of [...filesOf(sha256), nameFile(sha256)]) await rm(file, { force: true })
    },
    begunBytes: async (sha256) => sum(await Promise.all(partialFiles(store.directory, sha256).map(bytesOnDisk))),
    async freeBytes() {
      const { bavail, bsize } = await statfs(store.directory)
      return bavail * bsize
    },
  }
}

/** Returns the bytes that a file uses: the file of a download has its full length from the start, but uses only what is written. */
async function bytesOnDisk(path: string): Promise<number> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (found === null) return 0
  // Windows does not count blocks.
  return process.platform === 'win32' ? found.size : Math.min(found.size, found.blocks * BLOCK_BYTES)
}

const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0)
