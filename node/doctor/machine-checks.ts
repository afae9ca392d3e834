import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { defaultMemoryLimit, usableMemory } from '../../rollout/engine/index.js'
import { reachOf } from '../../swarm/index.js'
import { freePort, keptPort } from '../network/listen-port.js'
import { inBytes } from '../report/in-bytes.js'
import type { Examination } from './examination.js'
import { type Finding, ok, problem, unknown, warning } from './finding.js'

const run = promisify(execFile)
const COMMAND_TIMEOUT_MS = 5_000

/** Space for groups, verdicts and three adapters of a usual size. */
const BYTES_TO_WORK = 1e9
/** Memory with the cache of a group's rollouts and the node, as a multiple of the model's size. */
const MEMORY_PER_MODEL = 1.3

/** Checks the free space for the base model and for work. */
export async function checkDisk(examination: Examination, signal: AbortSignal): Promise<Finding> {
  const { dataDir, run: known } = examination
  const refused = await tryToWrite(dataDir)
  if (refused !== null) return problem(refused, 'make it writable, or give another folder with --data-dir')
  const free = await freeBytes(dataDir)
  const base = known && (await examination.invitation(signal).catch(() => null))?.base
  const isHere = base ? (await examination.baseModel(signal).catch(() => null)) !== null : false
  const model = base && !isHere ? base.sizeBytes : 0
  const found = `${inBytes(free)} are free for ${dataDir}${model > 0 ? `, and the base model needs ${inBytes(model)}` : ''}`
  if (free < model)
    return problem(found, 'free some space (prove-node cache clean), or give another disk with --data-dir')
  if (free < model + BYTES_TO_WORK)
    return warning(found, `free up to ${inBytes(model + BYTES_TO_WORK)}: adapters and groups also need space`)
  return ok(found)
}

/**
 * Writes and removes a file in the nearest existing folder: free space does not show whether a node may use it.
 * @returns  the reason why it cannot be written to; null: it can
 */
export async function tryToWrite(path: string): Promise<string | null> {
  try {
    if (!(await stat(path)).isDirectory()) return `${path} is not a folder`
    const folder = await mkdtemp(join(path, '.doctor-'))
    try {
      await writeFile(join(folder, 'file'), 'x')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
    return null
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && dirname(path) !== path) return tryToWrite(dirname(path))
    return `${path} cannot be written to: ${message}`
  }
}

/** Returns the free bytes at the nearest existing folder: a new node has no data folder yet. */
async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error
    return freeBytes(dirname(path))
  }
}

/** Checks the memory for the base model. */
export async function checkMemory(examination: Examination, signal: AbortSignal): Promise<Finding> {
  const available = process.availableMemory()
  const { limits, run: known } = examination
  const allowed = limits.memory === undefined ? defaultMemoryLimit() : limits.memory * 2 ** 30
  const found = `${inBytes(available)} of ${inBytes(usableMemory())} are available, and the engine may use ${inBytes(allowed)}`
  const base = known && (await examination.invitation(signal).catch(() => null))?.base
  if (!base) return ok(found)
  const needed = base.sizeBytes * MEMORY_PER_MODEL
  const what = `${found}; ${base.name} needs about ${inBytes(needed)}`
  if (needed > usableMemory()) return problem(what, 'this run is too large for this machine')
  if (needed > allowed) return problem(what, 'allow more: prove-node limits set memory=GIB')
  return needed > available ? warning(what, 'end other programs, or pause the node while they run') : ok(what)
}

/** Checks that the node's port is free. */
export async function checkPort({ dataDir, node }: Examination): Promise<Finding> {
  const port = await keptPort(dataDir)
  if (port === null) return ok('no port is chosen yet: the first start chooses a free one')
  if (node !== null) return ok(`the running node uses port ${port}`)
  if ((await freePort('0.0.0.0', port)) !== null) return ok(`port ${port} of this node is free`)
  return warning(
    `another program uses port ${port}, at which other nodes know this one`,
    'end that program, or delete listen.port in the data folder to choose another port, and update the forwarding of a router',
  )
}

/** Returns the public addresses of this machine. */
const ownPublicAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(
      ({ internal, family, address }) =>
        !internal && reachOf(`/ip${family === 'IPv6' ? 6 : 4}/${address}`) === 'anywhere',
    )
    .map(({ address }) => address)

const NOTHING_LOST = 'a volunteer needs no incoming connections'

/** Checks whether other nodes can dial this machine. */
export async function checkRouter(examination: Examination, signal: AbortSignal): Promise<Finding> {
  const { run: known, runReach, node } = examination
  const own = ownPublicAddresses()
  const here =
    own.length > 0
      ? `this machine has public addresses (${own.join(', ')})`
      : 'this machine has only private addresses, behind a router'
  if (known === null) return unknown(`${here}; give a run to test whether others can reach it`)
  if (runReach === 'machine') return ok('the run is on this machine: no other machine needs to reach it')
  if (node !== null) return unknown(`${here}; a node is running here, so its port is not tested`)
  const { host } = await examination.reached(signal)
  const proven = await provenWithin(host, signal)
  if (proven.length > 0) return ok(`others reached this machine at ${proven.join(', ')}`)
  return own.length > 0
    ? warning(
        `${here}, but others did not reach it there`,
        `allow its port in the firewall; ${NOTHING_LOST}, but others cannot fetch from this node`,
      )
    : ok(
        `${here}, and others cannot reach it; ${NOTHING_LOST}`,
        'to serve adapters to others, forward the port and start with --announce',
      )
}

/** Longest wait for AutoNAT, which asks peers every few seconds. */
const PROOF_WAIT_MS = 20_000
const LOOK_MS = 500

async function provenWithin(
  host: Pick<Awaited<ReturnType<Examination['reached']>>['host'], 'provenAddresses' | 'clock'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  for (let leftMs = PROOF_WAIT_MS; leftMs > 0 && host.provenAddresses().length === 0; leftMs -= LOOK_MS)
    await host.clock.sleep(LOOK_MS, signal)
  return host.provenAddresses()
}

/** Checks for active firewalls. Only administrators can read their rules. */
export async function checkFirewall({ dataDir }: Examination, signal: AbortSignal): Promise<Finding> {
  const port = (await keptPort(dataDir)) ?? 'PORT'
  switch (process.platform) {
    case 'darwin':
      return unknown(
        'macOS does not let programs read its firewall',
        'allow incoming connections at the first start. Allow your terminal in System Settings, Privacy & Security, Local Network: nodes in the same network find each other only then',
      )
    case 'win32':
      return unknown(
        'Windows lets only administrators read its firewall',
        'allow access to private networks at the first start',
      )
    case 'linux': {
      const active = await activeFirewalls(signal)
      if (active.length === 0) return ok('neither ufw nor firewalld is active')
      const commands = {
        ufw: `sudo ufw allow ${port}/tcp`,
        firewalld: `sudo firewall-cmd --permanent --add-port=${port}/tcp`,
      }
      return warning(
        `${active.join(' and ')} may block connections to this node; ${NOTHING_LOST}`,
        `to serve adapters to others: ${active.map((name) => commands[name]).join('; ')}`,
      )
    }
    default:
      return unknown(`firewalls on ${process.platform} are not supported`)
  }
}

async function activeFirewalls(signal: AbortSignal): Promise<('ufw' | 'firewalld')[]> {
  const ufw = await readFile('/etc/ufw/ufw.conf', 'utf8').catch(() => '')
  const firewalld = await run('systemctl', ['is-active', 'firewalld'], { timeout: COMMAND_TIMEOUT_MS, signal }).then(
    ({ stdout }) => stdout.trim() === 'active',
    () => false,
  )
  signal.throwIfAborted()
  return [...(/^ENABLED=yes$/m.test(ufw) ? (['ufw'] as const) : []), ...(firewalld ? (['firewalld'] as const) : [])]
}
