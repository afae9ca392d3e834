import crypto from 'node:crypto'
import fsp, { type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { sep } from 'node:path'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import type { SimProcess } from './sim-process.js'

/**
 * Stands between the program and Node's file system: every operation under the folder of a simulated process goes through
 * that process, which may end there or find the disk full. The files themselves are real.
 */
export interface SimDisk {
  /** What a database does in its folder is one operation of the process that opens it, not several. */
  leaveOut(folder: string): void
  /** The process works in its machine's folder from now on, in place of the one before it. */
  mount(process: SimProcess): void
  /** The process is gone for good: closes the files that it left open, and lets others at its folder. */
  unmount(process: SimProcess): Promise<void>
  /** Puts Node's own functions back. */
  restore(): void
}

/** Functions of `node:fs/promises` that the product calls, and whether they take room on the disk. */
const BY_PATH = {
  access: false,
  copyFile: true,
  mkdir: true,
  open: false,
  readdir: false,
  readFile: false,
  rename: true,
  rm: false,
  stat: false,
  writeFile: true,
} as const
const BY_HANDLE = { read: false, sync: false, datasync: false, truncate: true, write: true, writeFile: true } as const

type AnyFunction = (...args: unknown[]) => Promise<unknown>

export function mountDisk(): SimDisk {
  const mounted = new Map<string, SimProcess>()
  const leftOut = new Set<string>()
  const handles = new Map<FileHandle, SimProcess>()
  const originals = new Map<string, AnyFunction>()
  const library = fsp as unknown as Record<string, AnyFunction>

  const ownerOf = (path: unknown): SimProcess | undefined => {
    if (typeof path !== 'string' || leftOut.has(path)) return undefined
    for (const [folder, process] of mounted) if (path === folder || path.startsWith(folder + sep)) return process
    return undefined
  }

  const adopt = (handle: FileHandle, owner: SimProcess): FileHandle => {
    handles.set(handle, owner)
    const methods = handle as unknown as Record<string, AnyFunction>
    for (const [name, writes] of Object.entries(BY_HANDLE)) {
      const original = methods[name]!.bind(handle)
      // No machine loses its power here, so syncing, which is slow, would change nothing.
      const work = name.endsWith('sync') ? async () => undefined : original
      methods[name] = (...args) => owner.disk(name, writes, () => work(...args))
    }
    const close = handle.close.bind(handle)
    handle.close = () => {
      handles.delete(handle)
      return close()
    }
    return handle
  }

  for (const [name, writes] of Object.entries(BY_PATH)) {
    const original = library[name]!
    originals.set(name, original)
    library[name] = async (...args) => {
      const owner = ownerOf(args[0])
      if (!owner) return original(...args)
      return owner.disk(name, writes, async () => {
        const result = await original(...args)
        return name === 'open' ? adopt(result as FileHandle, owner) : result
      })
    }
  }
  syncBuiltinESMExports()

  return {
    leaveOut: (folder) => leftOut.add(folder),
    mount(process) {
      mounted.set(process.machine.folder, process)
    },
    async unmount(process) {
      const { folder } = process.machine
      if (mounted.get(folder) === process) mounted.delete(folder)
      for (const [handle, owner] of [...handles]) if (owner === process) await handle.close()
    },
    restore() {
      for (const [name, original] of originals) library[name] = original
      syncBuiltinESMExports()
    },
  }
}

/** Lets `node:crypto` draw its random bytes, and `Math` its numbers, from a seed. @returns  puts the real ones back */
export function seedRandomness(seed: number): () => void {
  const generator = xoroshiro128plus(seed | 0)
  const { randomBytes } = crypto
  const { random } = Math
  crypto.randomBytes = ((size: number) =>
    Buffer.from(Array.from({ length: size }, () => uniformInt(generator, 0, 255)))) as typeof randomBytes
  Math.random = () => uniformInt(generator, 0, 2 ** 30 - 1) / 2 ** 30
  syncBuiltinESMExports()
  return () => {
    crypto.randomBytes = randomBytes
    Math.random = random
    syncBuiltinESMExports()
  }
}
