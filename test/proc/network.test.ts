// needs: namespaces

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LIMITS, peerIdOfKey } from '../../proto/index.js'
import type { Discovery } from '../../swarm/index.js'
import { checkout } from '../support/checkout.js'
import type { NetworkCommand, NetworkHostOptions } from '../support/network-host.js'
import { createNamespaceLab, type NamespaceHost, type NamespaceLab } from '../support/network-namespaces.js'
import { follow, type Line, type Program } from '../support/programs.js'
import { keyOf } from '../support/swarm-nodes.js'

const ADAPTER_BYTES = 50_000_000
const CHUNKS = Math.ceil(ADAPTER_BYTES / LIMITS.chunkBytes.value)
const VOLUNTEERS = 12
/** Volunteers that stay after the adapter was fetched. */
const STAY = 5
/** Each volunteer finds at least this number of other volunteers. */
const NEIGHBOURS = 2
/** Fast enough for a test, and so slow that the coordinator's cable is the bottleneck if all volunteers fetch from it alone. */
const KBITS = 200_000
/** Upload rate of one volunteer, as on a telephone line. */
const SLOW_KBITS = 2000
const PORT = 4001
/** Names of the coordinator. */
const [FIRST_NAME, NEXT_NAME] = ['run.example', 'moved.example']

interface Station {
  readonly at: NamespaceHost
  readonly program: Program
  readonly peerId: string
  send(command: NetworkCommand): void
}

interface Context {
  folder: string
  lab: NamespaceLab | null
  programs: Program[]
  runId: string
}

const test = suite<Context>('hosts in network namespaces')
test.before.each(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'prove-network-'))
  context.lab = null
  context.programs = []
  context.runId = peerIdOfKey(await keyOf(1))
})
test.after.each(async ({ folder, lab, programs }) => {
  for (const program of programs) program.kill('SIGKILL')
  await Promise.all(programs.map(({ ended }) => ended))
  await lab?.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})

const ipOf = (seed: number): string => `10.77.0.${seed}`
/** A network whose addresses libp2p takes for public ones. */
const publicIpOf = (seed: number): string => `11.77.0.${seed}`
const at4 = (name: string): string => `/dns4/${name}/tcp/${PORT}`

interface StationOptions {
  readonly listens?: boolean
  readonly discovery?: Discovery
  readonly adapterBytes?: number
  /** The coordinator's name. */
  readonly called?: string
}

async function start(
  { folder, programs, runId }: Context,
  at: NamespaceHost,
  seed: number,
  { listens = true, discovery = {}, adapterBytes = ADAPTER_BYTES, called = FIRST_NAME }: StationOptions = {},
): Promise<Station> {
  const options: NetworkHostOptions = {
    seed,
    runId,
    folder: join(folder, String(seed)),
    listen: listens ? [`/ip4/0.0.0.0/tcp/${PORT}`] : [],
    announce: seed === 1 ? [at4(called)] : [],
    coordinator: seed === 1 ? null : `${at4(FIRST_NAME)}/p2p/${runId}`,
    discovery,
    adapterBytes,
  }
  const script = join(checkout, 'dist', 'test', 'support', 'network-host.js')
  const child = at.start(process.execPath, [script, JSON.stringify(options)])
  const program = follow(`host ${seed}`, child)
  programs.push(program)
  const { peerId } = await program.until('it is ready', ({ type }) => type === 'ready')
  return {
    at,
    program,
    peerId: peerId as string,
    send: (command) => void child.stdin!.write(`${JSON.stringify(command)}\n`),
  }
}

/** Sends a command to a host and returns its answer. Earlier lines do not count. */
async function ask({ program, send }: Station, command: NetworkCommand, type: string): Promise<Line> {
  const from = program.lines.length
  send(command)
  const line = await program.until(type, (said) => said.type === type || said.type === 'failed', from)
  if (line.type === 'failed') throw new Error(`${program.name}: ${line.why}`)
  return line
}

interface Connection {
  readonly peer: string
  readonly address: string
}
const peersOf = async (station: Station): Promise<readonly Connection[]> =>
  (await ask(station, { do: 'peers' }, 'peers')).connections as Connection[]

const reaches =
  (connected: boolean) =>
  (line: Line): boolean =>
    line.type === 'coordinator' && line.connected === connected

const finds = ({ type, count }: Line): boolean => type === 'neighbours' && (count as number) >= NEIGHBOURS

test('volunteers find each other, share an adapter, and find a coordinator that has moved', async (context) => {
  const { runId } = context
  context.lab = await createNamespaceLab({ kbits: KBITS })
  const { lab } = context
  await lab.name(FIRST_NAME, ipOf(1))
  const coordinator = await start(context, await lab.host('c', ipOf(1)), 1)
  coordinator.send({ do: 'publish' })
  const seeds = Array.from({ length: VOLUNTEERS }, (_, i) => i + 2)
  const [slow, hidden] = [STAY, STAY + 1]
  const hostOf = (seed: number): Promise<NamespaceHost> => {
    if (seed === hidden) return lab.hostBehindRouter(`v${seed}`, ipOf(seed))
    return lab.host(`v${seed}`, ipOf(seed), seed === slow ? SLOW_KBITS : KBITS)
  }
  const everybody: Station[] = []
  for (const seed of seeds) everybody.push(await start(context, await hostOf(seed), seed, { listens: seed !== hidden }))
  const volunteers = everybody.slice(0, STAY)
  const named = (seed: number): Station => volunteers[seed - 2]!

  // Every volunteer finds others. Only the coordinator names them.
  for (const { program } of everybody) await program.until('it is connected', reaches(true))
  const found = await Promise.all(everybody.map(({ program }) => program.until('it has neighbours', finds)))
  console.log('connections to other volunteers:', found.map(({ count }) => count).join(' '))

  // All fetch the adapter at the same time.
  await Promise.all(everybody.map((station) => ask(station, { do: 'fetch' }, 'fetched')))
  const { uploaded } = await ask(coordinator, { do: 'peers' }, 'peers')
  console.log(`uploads of the coordinator: ${(uploaded as number) / CHUNKS} for ${VOLUNTEERS} volunteers`)
  assert.ok((uploaded as number) < 3 * CHUNKS, `${uploaded} chunks of ${CHUNKS}`)
  for (const { program } of everybody.slice(STAY)) program.kill('SIGKILL')

  // A node behind a router serves the adapter to a neighbour that it has dialled.
  const dialled = (await peersOf(named(hidden))).find(({ peer }) => peer !== runId)!
  const neighbour = volunteers.find(({ peerId }) => peerId === dialled.peer)!
  await ask(neighbour, { do: 'fetch', from: [named(hidden).peerId] }, 'fetched')

  // The coordinator gets another address under its name. Meanwhile a cable is cut, and another host gets a new address.
  const [cut, moving] = [named(2), named(3)]
  const notices = new Set<string>()
  const cutOff = async (): Promise<number[]> => {
    const before = volunteers.map(({ program }) => program.lines.length)
    await coordinator.at.cable(false)
    for (const [i, { program }] of volunteers.entries())
      await program.until('the coordinator is lost', reaches(false), before[i])
    return before
  }
  for (const { program } of volunteers)
    for (const { type, addresses } of program.lines) if (type === 'notice') notices.add(`${addresses}`)
  assert.equal([...notices], [at4(FIRST_NAME)])
  await cut.at.cable(false)
  await moving.at.move('10.77.0.103')
  let before = await cutOff()
  await coordinator.at.move('10.77.0.101')
  await lab.name(FIRST_NAME, '10.77.0.101')
  await coordinator.at.cable(true)
  await cut.at.cable(true)
  for (const [i, { program }] of volunteers.entries())
    await program.until('the coordinator is found', reaches(true), before[i])

  // The coordinator restarts under a new name, and the old name has no address.
  before = await cutOff()
  coordinator.program.kill('SIGKILL')
  await coordinator.program.ended
  await lab.name(FIRST_NAME, null)
  await lab.name(NEXT_NAME, '10.77.0.101')
  await coordinator.at.cable(true)
  await start(context, coordinator.at, 1, { called: NEXT_NAME })
  for (const [i, { program }] of volunteers.entries()) {
    await program.until(
      'the notice',
      ({ type, addresses }) => type === 'notice' && `${addresses}`.includes(NEXT_NAME),
      before[i],
    )
    await program.until('the coordinator is found', reaches(true), before[i])
  }
})

/** Small enough for a test; several chunks. */
const SMALL_ADAPTER_BYTES = 3_000_000

async function publicCoordinator(context: Context): Promise<{ lab: NamespaceLab; coordinator: Station }> {
  const lab = await createNamespaceLab()
  context.lab = lab
  await lab.name(FIRST_NAME, publicIpOf(1))
  const options = { discovery: { tryAddresses: true }, adapterBytes: SMALL_ADAPTER_BYTES }
  const coordinator = await start(context, await lab.host('c', publicIpOf(1)), 1, options)
  coordinator.send({ do: 'publish' })
  return { lab, coordinator }
}

const hasNeighbour = ({ type, count }: Line): boolean => type === 'neighbours' && (count as number) > 0

test('two nodes in one household find each other by multicast DNS and share an adapter', async (context) => {
  const { lab, coordinator } = await publicCoordinator(context)
  const household = await lab.hostsBehindRouter(['ann', 'bob'], publicIpOf(2))
  const nodes: Station[] = []
  for (const [i, at] of household.entries())
    nodes.push(await start(context, at, i + 2, { discovery: { localNetwork: true } }))
  const [ann, bob] = nodes as [Station, Station]
  await ann.program.until('the coordinator is connected', reaches(true))
  await ask(ann, { do: 'fetch', from: [context.runId] }, 'fetched')
  const { uploaded } = await ask(coordinator, { do: 'peers' }, 'peers')
  await bob.program.until('it has a neighbour', hasNeighbour)
  await ask(bob, { do: 'fetch', from: [ann.peerId] }, 'fetched')
  const connection = (await peersOf(bob)).find(({ peer }) => peer === ann.peerId)!
  assert.match(connection.address, /^\/ip4\/10\.77\.0\./, 'within the household')
  assert.is((await ask(coordinator, { do: 'peers' }, 'peers')).uploaded, uploaded, 'the coordinator sent it once')
})

test('a node learns from peers whether its public address is open, and others then find it there', async (context) => {
  const { lab } = await publicCoordinator(context)
  const discovery = { tryAddresses: true }
  const closed = await start(context, await lab.hostBehindFirewall('closed', publicIpOf(3)), 3, { discovery })
  await closed.program.until('the coordinator is connected', reaches(true))
  const hidden = await start(context, await lab.hostBehindRouter('hidden', publicIpOf(2)), 2, { discovery })
  const open = await start(context, await lab.host('open', publicIpOf(4)), 4, { discovery })
  // The hidden node knows only the coordinator, which names nodes at addresses that they announce and answer at.
  await hidden.program.until('it has a neighbour', hasNeighbour)
  const [neighbour] = (await peersOf(hidden)).filter(({ peer }) => peer !== context.runId)
  assert.is(neighbour!.peer, open.peerId)
  const proven = async (station: Station): Promise<unknown> => (await ask(station, { do: 'peers' }, 'peers')).proven
  assert.equal(await proven(open), [`/ip4/${publicIpOf(4)}/tcp/${PORT}`])
  assert.equal(await proven(closed), [])
  assert.equal(await proven(hidden), [])
})

test.run()
