import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { PRIVATE_FILE } from './owner-only.js'

/** Longest path of a socket, without the final zero: 107 bytes on Linux, 103 on macOS. */
const LONGEST_PATH_BYTES = 103

/** File with the path of the control socket, if it cannot be in the data directory. */
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
  const elsewhere = await readFile(pathFile(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  })
  return elsewhere ?? fixedAddress(dataDir)
}

/** An address to listen on, and a function that removes the files created for it. */
export interface TakenAddress {
  readonly address: string
  release(): Promise<void>
}

/**
 * Creates the addresses to listen on, the preferred one first, for the process that has locked the data directory. The second one is for
 * file systems without sockets, such as exFAT. Removes the socket of an earlier process.
 */
export function controlAddresses(dataDir: string): readonly (() => Promise<TakenAddress>)[] {
  const fixed = fixedAddress(dataDir)
  const takeFixed = async (address: string): Promise<TakenAddress> => {
    await rm(pathFile(dataDir), { force: true })
    const release = async (): Promise<void> => {
      if (process.platform !== 'win32') await rm(address, { force: true })
    }
    await release()
    return { address, release }
  }
  if (fixed === null) return [() => takeElsewhere(dataDir)]
  return process.platform === 'win32'
    ? [() => takeFixed(fixed)]
    : [() => takeFixed(fixed), () => takeElsewhere(dataDir)]
}

/** Creates an address in the system's temporary folder, and notes it in the data directory. */
async function takeElsewhere(dataDir: string): Promise<TakenAddress> {
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
