import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { PRIVATE_FILE } from './owner-only.js'

/** Longest path of a socket, without the final zero: 107 bytes on Linux, 103 on macOS. */
const LONGEST_PATH_BYTES = 103

/** File with the path of the control socket, if its path in the data directory would be too long. */
const pathFile = (dataDir: string): string => join(dataDir, 'control.path')

/** Returns the fixed address for a data directory; null: it would be too long. */
function fixedAddress(dataDir: string): string | null {
  if (process.platform === 'win32') {
    const name = createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 24)
    return `\\\\.\\pipe\\prove-${name}`
  }
  const path = join(resolve(dataDir), 'control.sock')
  return Buffer.byteLength(path) <= LONGEST_PATH_BYTES ? path : null
}

/** Returns the address of the program that runs on a data directory; null: none has one. */
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
 * Creates an address to listen on, for the process that has locked the data directory. Removes the socket of an earlier process.
 * @returns  the address, and a function that removes the files created for it
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
