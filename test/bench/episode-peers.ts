import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { z } from 'zod'
import { type ServedProgram, startServer } from './served-program.js'

const LONGEST_MS = 5 * 60_000
/** Root of the checkout, relative to the compiled file. */
const TAU2 = fileURLToPath(new URL('../../../test/bench/tau2_peer.py', import.meta.url))

export interface Load {
  readonly episodesPerS: number
  /** Additional memory of the server while the episodes are open, in bytes. */
  readonly memoryBytes: number
}

/** A checkout of another program, and a Python with the packages that the program needs. */
interface Checkout {
  readonly version: string
  readonly folder: string
  readonly python: string
}

/** Reads the checkout from two environment variables. Without them, reports that nothing is compared. */
async function checkoutOf(name: string, variable: string): Promise<Checkout | undefined> {
  const folder = process.env[variable]
  if (folder === undefined) {
    console.error(`bench: ${name} is not here to be compared with: ${variable} names no checkout of it`)
    return undefined
  }
  const project = await readFile(join(folder, 'pyproject.toml'), 'utf8')
  const [, version = 'unknown'] = project.match(/^version = "([^"]+)"/m) ?? []
  return { version, folder, python: process.env[`${variable}_PYTHON`] ?? 'python3' }
}

export interface Tau2Peer {
  readonly version: string
  /** Its environment of the retail domain, without any server, in one process. */
  episodes(): Promise<Load>
  /** Its own server, which has one environment for all who ask, and somebody who is known in it. */
  start(): Promise<ServedProgram>
  readonly user: string
}

const load = z.object({ episodesPerS: z.number().positive(), memoryBytes: z.number() })

export async function tau2Peer(): Promise<Tau2Peer | undefined> {
  const checkout = await checkoutOf('tau2-bench', 'PROVE_BENCH_TAU2')
  if (checkout === undefined) return undefined
  const { version, folder, python } = checkout
  return {
    version,
    user: 'noah_brown_6181',
    start: () => startServer(python, [TAU2, folder, 'serve']),
    async episodes() {
      const { stdout } = await execa(python, [TAU2, folder, 'episodes'], { stderr: 'inherit', timeout: LONGEST_MS })
      return load.parse(JSON.parse(stdout))
    },
  }
}
