import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { peerIdOfKey } from '../../proto/index.js'
import { checkout } from '../support/checkout.js'
import type { NetworkCommand, NetworkHostOptions } from '../support/network-host.js'
import {
  createNamespaceLab,
  lacksNamespaces,
  type NamespaceHost,
  type NamespaceLab,
} from '../support/network-namespaces.js'
import { follow, type Line, type Program } from '../support/programs.js'
import { keyOf } from '../support/swarm-nodes.js'

// A run of hosts with addresses and cables of their own.

const CHUNKS = 20
const ADAPTER_BYTES = CHUNKS * 2 ** 20
const VOLUNTEERS = 5
/** Of other volunteers, what each one finds at the least. */
const NEIGHBOURS = 2
/** Fast enough for a test, slow enough that the coordinator's cable is what everybody waits for if they turn to it alone. */
const KBITS = 200_000
const PORT = 4001

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

const test = suite<Context>('a network')
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

async function start(
  { folder, programs, runId }: Context,
  at: NamespaceHost,
  seed: number,
  { listens = true, alone = false }: { readonly listens?: boolean; readonly alone?: boolean } = {},
): Promise<Station> {
  const options: NetworkHostOptions = {
    seed,
    runId,
    folder: join(folder, String(seed)),
    listen: listens ? [`/ip4/0.0.0.0/tcp/${PORT}`] : [],
    coordinator: seed === 1 ? null : `/ip4/${ipOf(1)}/tcp/${PORT}/p2p/${runId}`,
    alone,
    adapterBytes: ADAPTER_BYTES,
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

/** What a host answers to a command; what it told before does not count. */
async function ask({ program, send }: Station, command: NetworkCommand, type: string): Promise<Line> {
  const from = program.lines.length
  send(command)
  const line = await program.until(type, (said) => said.type === type || said.type === 'failed', from)
  if (line.type === 'failed') throw new Error(`${program.name}: ${line.why}`)
  return line
}

interface Connection {
  readonly peer: string
  readonly limited: boolean
  readonly address: string
}
const peersOf = async (station: Station): Promise<readonly Connection[]> =>
  (await ask(station, { do: 'peers' }, 'peers')).connections as Connection[]

const reaches =
  (connected: boolean) =>
  (line: Line): boolean =>
    line.type === 'coordinator' && line.connected === connected

const finds = ({ type, count }: Line): boolean => type === 'neighbours' && (count as number) >= NEIGHBOURS

const lacks = await lacksNamespaces()
if (lacks !== null) {
  console.log(
    `SKIPPED: this system lets nobody make network namespaces with links, so nothing is proved here. ${lacks}`,
  )
}

;(lacks === null ? test : test.skip)('a run on hosts of their own', async (context) => {
  const { runId } = context
  context.lab = await createNamespaceLab({ kbits: KBITS })
  const { lab } = context
  const coordinator = await start(context, await lab.host('c', ipOf(1)), 1)
  coordinator.send({ do: 'publish' })
  const seeds = Array.from({ length: VOLUNTEERS }, (_, i) => i + 2)
  const hidden = VOLUNTEERS + 1
  const volunteers = await Promise.all(
    seeds.map(async (seed) =>
      start(context, await lab.host(`v${seed}`, ipOf(seed)), seed, { listens: seed !== hidden }),
    ),
  )
  const named = (seed: number): Station => volunteers[seed - 2]!

  // Everybody has found others; nobody was told of them but by the coordinator.
  for (const { program } of volunteers) await program.until('it has come', reaches(true))
  const found = await Promise.all(volunteers.map(({ program }) => program.until('it has found others', finds)))
  console.log('connections to other volunteers:', found.map(({ count }) => count).join(' '))

  // All at once.
  await Promise.all(volunteers.map((station) => ask(station, { do: 'fetch' }, 'fetched')))
  const { uploaded } = await ask(coordinator, { do: 'peers' }, 'peers')
  console.log(`uploads of the coordinator: ${(uploaded as number) / CHUNKS} for ${VOLUNTEERS} volunteers`)
  assert.ok((uploaded as number) < 3 * CHUNKS, `${uploaded} chunks of ${CHUNKS}`)

  // Two that do not listen cannot dial each other: one asks the other through the coordinator.
  const stranger = await start(context, await lab.host('s', ipOf(50)), 50, { listens: false, alone: true })
  await stranger.program.until('it has come', reaches(true))
  const through = `/ip4/${ipOf(1)}/tcp/${PORT}/p2p/${runId}`
  const relayed = await ask(stranger, { do: 'ask', peer: named(hidden).peerId, through }, 'answered')
  assert.is(relayed.by, hidden)
  assert.equal(relayed.ways, [true], 'through a relay alone')
  // Whoever it has dialled itself can get the adapter from it.
  const dialled = (await peersOf(named(hidden))).find(({ peer, limited }) => !limited && peer !== runId)!
  const neighbour = volunteers.find(({ peerId }) => peerId === dialled.peer)!
  await ask(neighbour, { do: 'fetch', from: [named(hidden).peerId] }, 'fetched')

  // A cable is cut, and another host gets a new address. Meanwhile the coordinator moves, and its first life ends.
  const [cut, moving] = [named(2), named(3)]
  const before = volunteers.map(({ program }) => program.lines.length)
  await cut.at.cable(false)
  coordinator.program.kill('SIGKILL')
  await coordinator.program.ended
  await coordinator.at.move('10.77.0.101')
  await moving.at.move('10.77.0.103')
  for (const [i, { program }] of volunteers.entries()) await program.until('it is lost', reaches(false), before[i])
  await start(context, coordinator.at, 1)
  for (const [i, station] of volunteers.entries()) {
    if (station === cut) await cut.at.cable(true)
    const { program } = station
    await program.until(
      'the notice',
      ({ type, addresses }) => type === 'notice' && `${addresses}`.includes('10.77.0.101'),
      before[i],
    )
    await program.until('it is found', reaches(true), before[i])
  }
})

test.run()
