import { cp, open, readdir, rename, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { Machine } from './sim-process.js'

/**
 * Damage to the files of a machine whose program has ended: while it runs, what stands between it and its disk would be in
 * the way.
 */

/** Changes one byte of a file. */
export async function bend(path: string, at: number): Promise<void> {
  const file = await open(path, 'r+')
  try {
    const byte = new Uint8Array(1)
    await file.read(byte, 0, 1, at)
    byte[0]! ^= 0x55
    await file.write(byte, 0, 1, at)
  } finally {
    await file.close()
  }
}

/** The file of the log's database that holds what was written last. */
async function journalOf({ folder }: Machine): Promise<{ readonly path: string; readonly size: number }> {
  const log = join(folder, 'log')
  const journals = (await readdir(log)).filter((name) => name.endsWith('.log')).sort()
  const path = join(log, journals.at(-1)!)
  return { path, size: (await stat(path)).size }
}

/** Cuts the last bytes off a database's journal, as a power failure does in the middle of a write. */
export async function cutTail(machine: Machine, bytes: number): Promise<void> {
  const { path, size } = await journalOf(machine)
  await truncate(path, Math.max(0, size - bytes))
}

/** Cuts a share of a database's journal off, 1 being all of it, as a bad disk or a careless hand does. */
export async function cutShare(machine: Machine, share: number): Promise<void> {
  const { path, size } = await journalOf(machine)
  await truncate(path, Math.floor(size * (1 - share)))
}

/** Copies the log and its head. @returns  puts them back as they were */
export async function keepLog({ folder }: Machine): Promise<() => Promise<void>> {
  const parts = ['log', 'log.head']
  const kept = join(folder, 'kept')
  for (const part of parts) await cp(join(folder, part), join(kept, part), { recursive: true })
  return async () => {
    for (const part of parts) {
      await rm(join(folder, part), { recursive: true, force: true })
      await cp(join(kept, part), join(folder, part), { recursive: true })
    }
    await rm(kept, { recursive: true })
  }
}

/** Takes the head away from a log. */
export const loseHead = ({ folder }: Machine): Promise<void> => rm(join(folder, 'log.head'))

/** What a disk does to a file: loses it, changes a byte of it, or loses its end. */
export type DiskDamage = 'gone' | 'bent' | 'cut'

/** @param at  where in the file, from 0 to 1 */
export async function damage(path: string, how: DiskDamage, at: number): Promise<void> {
  const { size } = await stat(path)
  if (how === 'gone' || size === 0) await rm(path)
  else if (how === 'cut') await truncate(path, Math.floor(size * at))
  else await bend(path, Math.floor((size - 1) * at))
}

/** Files in a folder of a machine, and in folders in it, by their paths; none when it is not there. */
export async function filesIn({ folder }: Machine, part: string): Promise<string[]> {
  const below = await readdir(join(folder, part), { recursive: true, withFileTypes: true }).catch(() => [])
  return below.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])).sort()
}

/** Copies a folder of a machine. @returns  puts it back as it was */
export async function keepFolder({ folder }: Machine, part: string): Promise<() => Promise<void>> {
  const kept = join(folder, 'kept')
  await cp(join(folder, part), kept, { recursive: true })
  return async () => {
    await rm(join(folder, part), { recursive: true, force: true })
    await rename(kept, join(folder, part))
  }
}

/** Blobs that a volunteer holds, and downloads it has not finished. */
export async function blobsOf(machine: Machine): Promise<string[]> {
  const folder = join(machine.folder, 'blobs')
  const names = (await readdir(folder)).filter((name) => /^(\.part-)?[0-9a-f]{64}$/.test(name)).sort()
  return names.map((name) => join(folder, name))
}
