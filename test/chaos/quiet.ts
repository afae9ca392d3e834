import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { setImmediate as turn } from 'node:timers/promises'
import zlib from 'node:zlib'
import { PATIENCE_MS } from '../support/patience.js'

/** Operations on real databases that have not come back: the file system's own are counted by Node. */
export interface Underway {
  /** Counts the work until it settles. */
  count<T>(work: Promise<T>): Promise<T>
  /**
   * Resolves when nothing in this process can run any more: no callback is due and no disk operation is under way.
   *
   * libuv has one thread for disk work here (`UV_THREADPOOL_SIZE=1`), and it takes the operations in the order in which they
   * were started. So real files and databases answer in the same order in every run, however long each of them takes.
   */
  quiet(): Promise<void>
}

/** Counts compressions of `node:zlib`, which Node does not name among what is under way. @returns  puts the real ones back */
export function countCompression(underway: Underway): () => void {
  const { brotliCompress, brotliDecompress } = zlib
  const counted = (work: typeof brotliCompress) =>
    ((content: Uint8Array, options: object, done: (error: Error | null, result: Buffer) => void) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      void underway.count(promise)
      work(content, options, (error, result) => {
        resolve()
        done(error, result)
      })
    }) as typeof brotliCompress
  Object.assign(zlib, { brotliCompress: counted(brotliCompress), brotliDecompress: counted(brotliDecompress) })
  syncBuiltinESMExports()
  return () => {
    Object.assign(zlib, { brotliCompress, brotliDecompress })
    syncBuiltinESMExports()
  }
}

const FILE_REQUEST = /^(FSReq|CloseReq|FileHandle)/

/** @throws Error when disk operations could overtake each other in this process */
export function createUnderway(): Underway {
  if (process.env.UV_THREADPOOL_SIZE !== '1')
    throw new Error('start this with UV_THREADPOOL_SIZE=1, as npm run chaos does: otherwise no run is like another')
  let databases = 0
  const busy = (): boolean => databases > 0 || process.getActiveResourcesInfo().some((name) => FILE_REQUEST.test(name))
  return {
    async count(work) {
      databases += 1
      try {
        return await work
      } finally {
        databases -= 1
      }
    },
    async quiet() {
      await turn()
      // A database that takes so long waits for something that waits for it.
      const giveUpAt = performance.now() + PATIENCE_MS
      while (busy()) {
        if (performance.now() > giveUpAt) throw new Error('a disk operation does not come back')
        // It queues behind the work that is under way, so that nothing spins while the disk is slow.
        await new Promise<void>((resolve) => fs.access('.', () => resolve()))
        await turn()
      }
    },
  }
}
