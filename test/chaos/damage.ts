import { open, readdir, stat, truncate } from 'node:fs/promises'
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

/** Cuts the last bytes off a database's journal, as a power failure does in the middle of a write. */
export async function cutTail(machine: Machine, bytes: number): Promise<void> {
  const folder = join(machine.folder, 'log')
  const journals = (await readdir(folder)).filter((name) => name.endsWith('.log')).sort()
  const journal = join(folder, journals.at(-1)!)
  const { size } = await stat(journal)
  await truncate(journal, Math.max(0, size - bytes))
}

/** Blobs that a volunteer holds, and downloads it has not finished. */
export async function blobsOf(machine: Machine): Promise<string[]> {
  const folder = join(machine.folder, 'blobs')
  const names = (await readdir(folder)).filter((name) => /^(\.part-)?[0-9a-f]{64}$/.test(name)).sort()
  return names.map((name) => join(folder, name))
}
