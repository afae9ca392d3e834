import { readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { z } from 'zod'
import type { Load } from './open-env-load.js'
import { type ServedProgram, startServer } from './served-program.js'

const LONGEST_MS = 5 * 60_000
/** Root of the checkout, relative to the compiled file. */
const TAU2 = fileURLToPath(new URL('../../../test/bench/tau2_peer.py', import.meta.url))

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

export interface OpenEnvPeer {
  readonly version: string
  /** Its own server with the smallest of its environments, `echo_env`, whose tools are of an MCP server as ours are. */
  start(episodes: number): Promise<ServedProgram>
}

export async function openEnvPeer(): Promise<OpenEnvPeer | undefined> {
  const checkout = await checkoutOf('OpenEnv', 'PROVE_BENCH_OPENENV')
  if (checkout === undefined) return undefined
  const { version, folder, python } = checkout
  const app = ['-m', 'uvicorn', 'echo_env.server.app:app', '--host', '127.0.0.1', '--port', '0', '--no-access-log']
  return {
    version,
    start: (episodes) =>
      startServer(python, app, {
        cwd: folder,
        env: {
          PYTHONPATH: ['src', 'envs'].map((part) => join(folder, part)).join(delimiter),
          MAX_CONCURRENT_ENVS: String(episodes),
        },
      }),
  }
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
