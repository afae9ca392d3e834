// needs: namespaces

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LIMITS, peerIdOfKey } from '../../proto/index.js'
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

const ADAPTER_BYTES = 50_000_000
const CHUNKS = Math.ceil(ADAPTER_BYTES / LIMITS.chunkBytes.value)
const VOLUNTEERS = 12
/** Of them, some stay for what comes after the adapter. */
const STAY = 5
/** Of other volunteers, what each one finds at the least. */
const NEIGHBOURS = 2
/** Fast enough for a test, slow enough that the coordinator's cable is what everybody waits for if they turn to it alone. */
const KBITS = 200_000
/** One of them sends as slowly as a telephone line does. */
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
const at4 = (name: string): string => `/dns4/${name}/tcp/${PORT}`

interface StationOptions {
  readonly listens?: boolean
  readonly alone?: boolean
  /** The coordinator's name. */
  readonly called?: string
}

async function start(
  { folder, programs, runId }: Context,
  at: NamespaceHost,
  seed: number,
  { listens = true, alone = false, called = FIRST_NAME }: StationOptions = {},
): Promise<Station> {
  const options: NetworkHostOptions = {
    seed,
    runId,
    folder: join(folder, String(seed)),
    listen: listens ? [`/ip4/0.0.0.0/tcp/${PORT}`] : [],
    announce: seed === 1 ? [at4(called)] : [],
    coordinator: seed === 1 ? null : `${at4(FIRST_NAME)}/p2p/${runId}`,
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

  // Everybody has found others; nobody was told of them but by the coordinator.
  for (const { program } of everybody) await program.until('it has come', reaches(true))
  const found = await Promise.all(everybody.map(({ program }) => program.until('it has found others', finds)))
  console.log('connections to other volunteers:', found.map(({ count }) => count).join(' '))

  // All at once.
  await Promise.all(everybody.map((station) => ask(station, { do: 'fetch' }, 'fetched')))
  const { uploaded } = await ask(coordinator, { do: 'peers' }, 'peers')
  console.log(`uploads of the coordinator: ${(uploaded as number) / CHUNKS} for ${VOLUNTEERS} volunteers`)
  assert.ok((uploaded as number) < 3 * CHUNKS, `${uploaded} chunks of ${CHUNKS}`)
  for (const { program } of everybody.slice(STAY)) program.kill('SIGKILL')

  // Two that do not listen cannot dial each other: one asks the other through the coordinator.
  const stranger = await start(context, await lab.host('s', ipOf(50)), 50, { listens: false, alone: true })
  await stranger.program.until('it has come', reaches(true))
  const through = `${at4(FIRST_NAME)}/p2p/${runId}`
  const relayed = await ask(stranger, { do: 'ask', peer: named(hidden).peerId, through }, 'answered')
  assert.is(relayed.by, hidden)
  assert.equal(relayed.ways, [true], 'through a relay alone')
  // Whoever it has dialled itself can get the adapter from it.
  const dialled = (await peersOf(named(hidden))).find(({ peer, limited }) => !limited && peer !== runId)!
  const neighbour = volunteers.find(({ peerId }) => peerId === dialled.peer)!
  await ask(neighbour, { do: 'fetch', from: [named(hidden).peerId] }, 'fetched')

  // The coordinator gets another address under its name; meanwhile a cable is cut, and another host gets a new address.
  const [cut, moving] = [named(2), named(3)]
  const notices = new Set<string>()
  const cutOff = async (): Promise<number[]> => {
    const before = volunteers.map(({ program }) => program.lines.length)
    await coordinator.at.cable(false)
    for (const [i, { program }] of volunteers.entries()) await program.until('it is lost', reaches(false), before[i])
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
  for (const [i, { program }] of volunteers.entries()) await program.until('it is found', reaches(true), before[i])

  // It moves under a new name: its first life ends, and the old name stands for nothing.
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
    await program.until('it is found', reaches(true), before[i])
  }
})

test.run()
