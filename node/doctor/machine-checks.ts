import { execFile } from 'node:child_process'
import { readFile, statfs } from 'node:fs/promises'
import { networkInterfaces, totalmem } from 'node:os'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { defaultMemoryLimit } from '../../rollout/engine/index.js'
import { reachOf } from '../../swarm/index.js'
import { freePort, keptPort } from '../network/listen-port.js'
import { inBytes } from '../report/in-bytes.js'
import type { Examination } from './examination.js'
import { type Finding, ok, problem, unknown, warning } from './finding.js'

const run = promisify(execFile)
const COMMAND_TIMEOUT_MS = 5_000

/** Groups, verdicts and three adapters of a usual size. */
const CAPACITY_TO_WORK = 1e9
/** Beside the weights: the cache of a group's rollouts, and the node itself. */
const MEMORY_BESIDE_MODEL = 1.3

export async function checkDisk(examination: Examination, signal: AbortSignal): Promise<Finding> {
  const { dataDir, run: known } = examination
  const free = await freeBytes(dataDir)
  const base = known && (await examination.invitation(signal).catch(() => null))?.base
  const isHere = base ? (await examination.baseModel(signal).catch(() => null)) !== null : false
  const model = base && !isHere ? base.sizeBytes : 0
  const found = `${inBytes(free)} are free for ${dataDir}${model > 0 ? `, and ${inBytes(model)} are to be fetched` : ''}`
  if (free < model) return problem(found, 'make room (prove-node cache clean), or name another disk with --data-dir')
  if (free < model + CAPACITY_TO_WORK)
    return warning(found, `have ${inBytes(model + CAPACITY_TO_WORK)} free: adapters and groups need room, too`)
  return ok(found)
}

/** Of the nearest folder that is there: a node that has never run has none. */
async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error
    return freeBytes(dirname(path))
  }
}

export async function checkMemory(examination: Examination, signal: AbortSignal): Promise<Finding> {
  const available = process.availableMemory()
  const { limits, run: known } = examination
  const allowed = limits.memory === undefined ? defaultMemoryLimit() : limits.memory * 2 ** 30
  const found = `${inBytes(available)} of ${inBytes(totalmem())} are available, and the engine may take ${inBytes(allowed)}`
  const base = known && (await examination.invitation(signal).catch(() => null))?.base
  if (!base) return ok(found)
  const needed = base.sizeBytes * MEMORY_BESIDE_MODEL
  const what = `${found}; ${base.name} needs about ${inBytes(needed)}`
  if (needed > totalmem()) return problem(what, 'this run is too large for this machine')
  if (needed > allowed) return problem(what, 'give it more: prove-node limits set memory=GIB')
  return needed > available ? warning(what, 'end other programs, or let the node rest while they run') : ok(what)
}

export async function checkPort({ dataDir, node }: Examination): Promise<Finding> {
  const port = await keptPort(dataDir)
  if (port === null) return ok('no port is chosen yet: the first start takes a free one, and keeps it')
  if (node !== null) return ok(`port ${port} belongs to the node that is running here`)
  if ((await freePort('0.0.0.0', port)) !== null) return ok(`port ${port}, on which this node listens, is free`)
  return warning(
    `port ${port}, which others know, belongs to another program`,
    'end that program, or delete listen.port in the data folder for another port; a router that forwards it must be told',
  )
}

/** Public addresses of this machine's own. */
const ownPublicAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(
      ({ internal, family, address }) =>
        !internal && reachOf(`/ip${family === 'IPv6' ? 6 : 4}/${address}`) === 'anywhere',
    )
    .map(({ address }) => address)

const NOTHING_LOST = 'a volunteer loses nothing by that'

export async function checkRouter(examination: Examination, signal: AbortSignal): Promise<Finding> {
  const { run: known, runReach, node } = examination
  const own = ownPublicAddresses()
  const here =
    own.length > 0
      ? `this machine has public addresses (${own.join(', ')})`
      : 'this machine has private addresses only: a router stands between it and the internet'
  if (known === null) return unknown(`${here}; whether others can reach it is tried when a run is named`)
  if (runReach === 'machine') return ok('the run is on this machine: nobody else has to reach it')
  if (node !== null) return unknown(`${here}; a node is running here, so its port is not tried`)
  const { host } = await examination.reached(signal)
  const proven = await provenWithin(host, signal)
  if (proven.length > 0) return ok(`others have reached this machine at ${proven.join(', ')}`)
  return own.length > 0
    ? warning(
        `${here}, and nobody has reached it there`,
        `let its port through the firewall; ${NOTHING_LOST}, but others cannot fetch from it`,
      )
    : ok(
        `${here}, and nobody can reach it from outside; ${NOTHING_LOST}`,
        'to serve adapters to others, forward the port and start with --announce',
      )
}

/** AutoNAT asks peers in turns of some seconds. */
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

/** Only a hint: what a firewall lets through, it tells administrators alone. */
export async function checkFirewall({ dataDir }: Examination, signal: AbortSignal): Promise<Finding> {
  const port = (await keptPort(dataDir)) ?? 'PORT'
  switch (process.platform) {
    case 'darwin':
      return unknown(
        'macOS lets no program ask',
        'allow incoming connections when it asks at the first start; and in System Settings, Privacy & Security, Local Network, allow your terminal: without it nodes in the same house do not find each other',
      )
    case 'win32':
      return unknown(
        'Windows lets no program without administrator’s rights ask',
        'allow access to private networks when it asks at the first start',
      )
    case 'linux': {
      const active = await activeFirewalls(signal)
      if (active.length === 0) return ok('neither ufw nor firewalld is active here')
      const commands = {
        ufw: `sudo ufw allow ${port}/tcp`,
        firewalld: `sudo firewall-cmd --permanent --add-port=${port}/tcp`,
      }
      return warning(
        `${active.join(' and ')} may keep others from reaching this node; ${NOTHING_LOST}`,
        `to serve adapters to others: ${active.map((name) => commands[name]).join('; ')}`,
      )
    }
    default:
      return unknown(`nothing is known of firewalls on ${process.platform}`)
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
