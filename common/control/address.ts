import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { PRIVATE_FILE } from './owner-only.js'

/** What the kernel takes as the path of a socket, its closing zero left out: 107 bytes on Linux, 103 on macOS. */
const LONGEST_PATH_BYTES = 103

/** Where the control socket lies when its path in the data directory would be too long. */
const pathFile = (dataDir: string): string => join(dataDir, 'control.path')

/** The fixed address for a data directory; null: it would be too long. */
function fixedAddress(dataDir: string): string | null {
  if (process.platform === 'win32') {
    const name = createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 24)
    return `\\\\.\\pipe\\prove-${name}`
  }
  const path = join(resolve(dataDir), 'control.sock')
  return Buffer.byteLength(path) <= LONGEST_PATH_BYTES ? path : null
}

/** Where the program that holds a data directory listens, if one runs; null: nowhere. */
export async function controlAddress(dataDir: string): Promise<string | null> {
  return (
    fixedAddress(dataDir) ??
    (await readFile(pathFile(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    }))
  )
}

/**
 * An address to listen on, for the one process that holds the data directory: what an earlier one left there is removed.
 * @returns  the address, and what takes away everything that was made for it
 */
export async function takeControlAddress(
  dataDir: string,
): Promise<{ readonly address: string; release(): Promise<void> }> {
  const fixed = fixedAddress(dataDir)
  if (fixed !== null) {
    const release = async (): Promise<void> => {
      if (process.platform !== 'win32') await rm(fixed, { force: true })
    }
    await release()
    return { address: fixed, release }
  }
  const address = join(await mkdtemp(join(tmpdir(), 'prove-')), 'control.sock')
  await writeFile(pathFile(dataDir), address, { mode: PRIVATE_FILE })
  return {
    address,
    async release() {
      await rm(pathFile(dataDir), { force: true })
      await rm(dirname(address), { recursive: true, force: true })
    },
  }
}
