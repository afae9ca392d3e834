import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Stream } from '@libp2p/interface'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkSpace, type FetchBaseParts, fetchBaseModel, spaceFor } from '../../node/base/fetch-base.js'
import { readBaseModel } from '../../node/base/find-base.js'
import { type ModelCache, openModelCache } from '../../node/base/model-cache.js'
import { type ObtainBaseParts, obtainBaseModel } from '../../node/base/obtain-base.js'
import { webSource } from '../../node/base/web-source.js'
import { NodeError } from '../../node/report/errors.js'
import type { JoinPlan } from '../../node/report/join-plan.js'
import type { NodeProgress } from '../../node/report/progress.js'
import { createPauseControl, whileOnDuty } from '../../node/work/pause-control.js'
import {
  type BlobDescription,
  chunkListOf,
  chunkListSha256,
  type Invitation,
  LIMITS,
  openInvitation,
  PROTOCOLS,
  sealInvitation,
  sha256,
  snapshotRequest,
  snapshotResponse,
} from '../../proto/index.js'
import { createByteStream } from '../../swarm/byte-stream.js'
import {
  createBlobStore,
  createSnapshotExchange,
  describeFile,
  type SnapshotExchange,
  type SnapshotExchangeOptions,
} from '../../swarm/index.js'
import { flightInvitation } from '../support/invitations.js'
import {
  connect,
  createTestSwarm,
  eventually,
  noise,
  patientClock,
  soon,
  type TestNode,
  type TestSwarm,
} from '../support/swarm-nodes.js'

const MIB = LIMITS.chunkBytes.value
/** Seven chunks, the last of them short. */
const MODEL = noise(6 * MIB + 54_321, 5)

interface Member extends TestNode {
  readonly exchange: SnapshotExchange
  readonly folder: string
  /** Of a model that it may have. */
  readonly file: string
}
interface Context {
  swarm: TestSwarm
  coordinator: Member
  blob: BlobDescription
  invitation: Invitation
  closing: (() => Promise<unknown>)[]
}
const test = suite<Context>('base models')

async function member(
  swarm: TestSwarm,
  seed: number,
  options: Omit<SnapshotExchangeOptions, 'store'> = {},
): Promise<Member> {
  const node = await swarm.node(seed)
  const folder = await swarm.folder()
  const store = await createBlobStore(join(folder, 'blobs'))
  const exchange = await createSnapshotExchange(node.host, { store, ...options })
  return { ...node, exchange, folder, file: join(folder, 'model.gguf') }
}

test.before.each(async (context) => {
  context.closing = []
  context.swarm = await createTestSwarm()
  const coordinator = await member(context.swarm, 1)
  await writeFile(coordinator.file, MODEL)
  const blob = await describeFile(coordinator.file, 'base')
  coordinator.exchange.offerFile(blob, coordinator.file)
  const sealed = await sealInvitation(coordinator.key, {
    ...flightInvitation,
    base: {
      name: 'noise-7M',
      sha256: blob.sha256,
      sizeBytes: blob.sizeBytes,
      chunkListSha256: chunkListSha256(blob),
      sources: [],
    },
  })
  coordinator.exchange.offerInvitation(() => sealed)
  Object.assign(context, { coordinator, blob, invitation: await openInvitation(sealed) })
})
test.after.each(async ({ swarm, closing }) => {
  for (const close of closing) await close()
  await swarm.close()
})

/** A stranger's node, with what it heard. */
async function stranger(swarm: TestSwarm, coordinator: Member, seed: number, change: Partial<ObtainBaseParts> = {}) {
  const node = await member(swarm, seed)
  const understood: NodeProgress[] = []
  const asked: JoinPlan[] = []
  const parts: ObtainBaseParts = {
    dataDir: node.folder,
    coordinator: coordinator.host.peerId,
    invitation: null,
    given: null,
    packaged: join(node.folder, 'nothing'),
    snapshots: node.exchange,
    connected: async () => undefined,
    peers: () => [coordinator.host.peerId, ...node.host.connections().map(({ peer }) => peer)],
    clock: node.host.clock,
    agree: async (plan) => asked.push(plan) > 0,
    onDuty: (download, signal) => download(signal),
    onProgress: (progress) => understood.push(progress),
    ...change,
  }
  return { ...node, understood, asked, parts, obtain: (signal = soon()) => obtainBaseModel(parts, signal) }
}

async function refused(work: Promise<unknown>): Promise<NodeError> {
  try {
    await work
  } catch (why) {
    assert.instance(why, NodeError)
    return why as NodeError
  }
  throw new Error('it went well')
}

test('a newcomer with only an address sees the plan, is asked, and fetches the model from the coordinator', async ({
  swarm,
  coordinator,
  blob,
}) => {
  const ann = await stranger(swarm, coordinator, 2)
  await connect(ann, coordinator)
  const { path } = await ann.obtain()
  assert.is(sha256(await readFile(path)), blob.sha256)
  const [stated] = ann.understood
  assert.ok(stated?.type === 'invited')
  assert.is(stated.plan.operator, flightInvitation.operator)
  assert.is(stated.plan.from, 'download')
  assert.is(stated.plan.space?.missing, MODEL.length)
  assert.equal(ann.asked, [stated.plan])
  assert.equal(ann.understood.at(-1), { type: 'fetching', share: 1, sizeBytes: MODEL.length })

  const again = await ann.obtain()
  assert.is(again.path, path)
  assert.is(ann.asked.length, 1, 'asked once per run')
  const last = ann.understood.at(-1)
  assert.ok(last?.type === 'invited' && last.plan.from === 'cache')
})

test('a node that has fetched a model serves it to the next one', async ({ swarm, coordinator, invitation, blob }) => {
  const ann = await stranger(swarm, coordinator, 2, { invitation })
  await connect(ann, coordinator)
  const fetched = await ann.obtain()
  ann.exchange.offerFile(fetched.blob, fetched.path)
  await coordinator.host.close()

  const ben = await stranger(swarm, coordinator, 3, { invitation })
  await connect(ben, ann)
  const { path } = await ben.obtain()
  assert.is(sha256(await readFile(path)), blob.sha256)
})

test('an interrupted download continues with the missing pieces', async ({ swarm, coordinator, invitation, blob }) => {
  const stop = new AbortController()
  const ann = await stranger(swarm, coordinator, 2, {
    invitation,
    onProgress: (progress) => {
      if (progress.type === 'fetching' && progress.share > 0.4) stop.abort(new Error('killed'))
    },
  })
  await connect(ann, coordinator)
  await ann.obtain(stop.signal).then(
    () => assert.unreachable(),
    (why: Error) => assert.is(why.message, 'killed'),
  )
  const cache = await openModelCache(ann.folder)
  const begun = await cache.begunBytes(blob.sha256)
  assert.ok(begun >= 2 * MIB && begun < MODEL.length, `${begun} B`)
  const [unfinished] = await cache.list()
  assert.equal([unfinished?.name, unfinished?.whole], ['noise-7M', false])

  const shares: number[] = []
  const resumed = await stranger(swarm, coordinator, 4, {
    invitation,
    dataDir: ann.folder,
    onProgress: (progress) => {
      if (progress.type === 'invited') assert.ok(progress.plan.space!.missing < MODEL.length)
      if (progress.type === 'fetching') shares.push(progress.share)
    },
  })
  await connect(resumed, coordinator)
  const { path } = await resumed.obtain()
  assert.is(sha256(await readFile(path)), blob.sha256)
  assert.ok(shares[0]! > 0.4, `went on at ${shares[0]}`)
})

test('a pause interrupts a download, which continues later, and the end of the node stops it', async ({
  swarm,
  coordinator,
  invitation,
  blob,
}) => {
  const gate = createPauseControl()
  const understood: string[] = []
  const ann = await stranger(swarm, coordinator, 2, {
    invitation,
    onProgress: ({ type }) => {
      // A piece that was under way may still come.
      if (type !== understood.at(-1)) understood.push(type)
      if (type !== 'fetching') return
      if (understood.includes('resumed')) gate.set({ kind: 'finish' })
      else gate.set({ kind: 'rest', why: 'it is night', untilMs: null, atOnce: false })
    },
    onDuty: (download, signal) =>
      whileOnDuty(gate, patientClock, download, {
        onRest: async ({ why }) => {
          understood.push(why)
          gate.set({ kind: 'work' })
        },
        onResumed: () => understood.push('resumed'),
        signal,
      }),
  })
  await connect(ann, coordinator)
  await ann.obtain().then(
    () => assert.unreachable(),
    (why: NodeError) => assert.is(why.code, 'stopped'),
  )
  assert.equal(understood, ['invited', 'fetching', 'it is night', 'resumed', 'fetching'])
  const { path } = await obtainBaseModel({ ...ann.parts, onDuty: (download, signal) => download(signal) }, soon())
  assert.is(sha256(await readFile(path)), blob.sha256)
})

test('a peer with a damaged copy sends no damaged piece', async ({ swarm, coordinator, invitation, blob }) => {
  const careless = await member(swarm, 8)
  await writeFile(careless.file, Uint8Array.from(MODEL).fill(0, 3 * MIB, 4 * MIB))
  careless.exchange.offerFile(blob, careless.file)
  const ann = await stranger(swarm, coordinator, 2, { invitation })
  await connect(ann, careless)
  await connect(ann, coordinator)
  const { path } = await ann.obtain()
  assert.is(sha256(await readFile(path)), blob.sha256)
  assert.equal(ann.refusals, [])
})

test('a peer that sends a false piece is dropped and reported, and its correct pieces stay', async ({
  swarm,
  coordinator,
  invitation,
  blob,
}) => {
  const liar = await swarm.node(8)
  await liar.host.handle(PROTOCOLS.snapshot, (stream) => void lie(stream, blob).catch(() => undefined))
  const ann = await stranger(swarm, coordinator, 2, {
    invitation,
    peers: () => [liar.host.peerId, coordinator.host.peerId],
  })
  await connect(ann, liar)
  await connect(ann, coordinator)
  const { path } = await ann.obtain()
  assert.is(sha256(await readFile(path)), blob.sha256)
  assert.equal(
    ann.refusals.map(({ peer, code }) => [peer, code]),
    [[liar.host.peerId, 'chunk_mismatch']],
  )
})

/** A bit for each of the model's pieces. */
const ALL = new Uint8Array([0xff])

/** Says that it has all, gives the true list of pieces, and one piece that is false. */
async function lie(stream: Stream, blob: BlobDescription): Promise<void> {
  const bytes = createByteStream(stream, patientClock)
  for (;;) {
    const frame = await bytes.readFrameOrEnd(snapshotRequest.maxBytes, soon())
    if (!frame) return
    const { id, want } = snapshotRequest.parse(frame)
    if (want.kind === 'held') await bytes.writeFrame(snapshotResponse.encode({ id, status: 'ok', data: ALL }), soon())
    if (want.kind !== 'chunk') continue
    const { index } = want
    const list = want.blobSha256 !== blob.sha256
    const data = list ? chunkListOf(blob) : MODEL.slice(index * MIB, (index + 1) * MIB)
    if (!list && index === 3) data.fill(0, 0, 9)
    await bytes.writeFrame(snapshotResponse.encode({ id, status: 'ok', data }), soon())
  }
}

test('a list of pieces for another file is detected, and not tried again', async ({
  swarm,
  coordinator,
  invitation,
  blob,
}) => {
  const ann = await stranger(swarm, coordinator, 2)
  await connect(ann, coordinator)
  const base = { ...invitation.base, sha256: sha256(noise(10)) }
  coordinator.exchange.offerFile({ ...blob, sha256: base.sha256 }, coordinator.file)
  const why = await refused(
    fetchBaseModel(base, { ...ann.parts, cache: await openModelCache(ann.folder), others: [] }, soon()),
  )
  assert.is(why.code, 'wrong_base')
  assert.match(why.message, /does not give the file noise-7M/)
})

test('nothing is fetched after a refusal, or onto a full disk, and the plan states both sizes', async ({
  swarm,
  coordinator,
  invitation,
}) => {
  const ann = await stranger(swarm, coordinator, 2, { invitation, agree: async () => false })
  assert.is((await refused(ann.obtain())).code, 'declined')
  assert.equal(await (await openModelCache(ann.folder)).list(), [])
  assert.is((await refused(ann.obtain())).code, 'declined', 'asked again')

  const huge = { ...invitation, base: { ...invitation.base, sizeBytes: LIMITS.blobBytes.value } }
  const full = await stranger(swarm, coordinator, 3, { invitation: huge })
  const cache: ModelCache = { ...(await openModelCache(full.folder)), freeBytes: async () => 1.5e9 }
  assert.throws(
    () => checkSpace({ missing: huge.base.sizeBytes, free: 1.5e9 }, huge.base, cache),
    /no_space: noise-7M needs 17\.4 GB, .* has 1\.5 GB free: free some space \(prove-node cache clean\)/,
  )
  assert.equal(await spaceFor(huge.base, cache), { missing: huge.base.sizeBytes, free: 1.5e9 })
})

test('a model from the user must be the run’s, and a damaged one in the cache is fetched again', async ({
  swarm,
  coordinator,
  invitation,
  blob,
}) => {
  const ann = await stranger(swarm, coordinator, 2, { invitation })
  await writeFile(ann.file, noise(1000))
  const given = await readBaseModel(ann.file, soon())
  const why = await refused(obtainBaseModel({ ...ann.parts, given }, soon()))
  assert.is(why.code, 'wrong_base')
  assert.match(why.message, new RegExp(`${blob.sha256}.*model\\.gguf has ${given.blob.sha256}`))

  await writeFile(ann.file, MODEL)
  const packaged = await obtainBaseModel({ ...ann.parts, packaged: ann.file }, soon())
  assert.is(packaged.path, ann.file, 'the packaged model is used when it is the one')

  await connect(ann, coordinator)
  const { path } = await ann.obtain()
  await writeFile(path, noise(1000))
  assert.is(sha256(await readFile((await ann.obtain()).path)), blob.sha256)
})

type Answer = (request: IncomingMessage, response: ServerResponse, from: number, to: number) => void

/** A web server that answers requests for ranges in its own way. */
async function webServer(
  { closing }: Context,
  answer: Answer,
): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = []
  const server: Server = createServer((request, response) => {
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    asked.push(`${request.url} ${request.headers.range}`)
    answer(request, response, Number(from), Number(to))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/model.gguf`, asked }
}

const range =
  (content: Uint8Array): Answer =>
  (_request, response, from, to) => {
    response.writeHead(206, { 'content-range': `bytes ${from}-${to}/${content.length}` })
    response.end(content.subarray(from, to + 1))
  }

async function fromWeb(context: Context, urls: readonly string[], stallMs?: number) {
  const { swarm, coordinator, invitation } = context
  const ann = await stranger(swarm, coordinator, 2)
  await connect(ann, coordinator)
  const web = (url: string) =>
    webSource(url, {
      sizeBytes: MODEL.length,
      protocols: ['http:'],
      ...(stallMs === undefined ? {} : { stallMs }),
    })
  const parts: FetchBaseParts = { ...ann.parts, cache: await openModelCache(ann.folder), others: urls.map(web) }
  return { ...ann, fetch: () => fetchBaseModel(invitation.base, parts, soon()) }
}

/** Why web servers were given up. */
const dropped = (understood: readonly NodeProgress[]): string[] =>
  understood.flatMap((progress) => (progress.type === 'source-dropped' ? [progress.detail] : []))

test('a web server sends the model by ranges, and redirects are followed once', async (context) => {
  const end = await webServer(context, range(MODEL))
  const start = await webServer(context, (_request, response) => {
    response.writeHead(302, { location: end.url })
    response.end()
  })
  const ann = await fromWeb(context, [start.url])
  const { path } = await ann.fetch()
  assert.is(sha256(await readFile(path)), context.blob.sha256)
  assert.equal(dropped(ann.understood), [])
  assert.ok(end.asked.length >= 7, 'every piece came from there: the coordinator is spared')
  assert.ok(start.asked.length <= LIMITS.snapshotInFlight.value, 'the redirect is remembered')
})

test('a web server with a false piece is dropped, and another source sends the piece', async (context) => {
  const other = Uint8Array.from(MODEL)
  other.fill(0, 3 * MIB, 4 * MIB)
  const server = await webServer(context, range(other))
  const ann = await fromWeb(context, [server.url])
  const { path } = await ann.fetch()
  assert.is(sha256(await readFile(path)), context.blob.sha256)
  assert.match(dropped(ann.understood).join(), /chunk_mismatch/)
  assert.equal(ann.refusals, [], 'no peer is blamed')
})

const BAD_SERVERS: readonly (readonly [string, Answer, RegExp])[] = [
  ['has no such file', (_q, response) => response.writeHead(404).end('no'), /answers 404/],
  [
    'gives whole files only',
    (_q, response) => response.writeHead(200).end(MODEL.subarray(0, 1000)),
    /does not support range requests/,
  ],
  [
    'has a file of another size',
    (_q, response, from, to) =>
      response.writeHead(206, { 'content-range': `bytes ${from}-${to}/99` }).end(MODEL.subarray(from, to + 1)),
    /has 99 bytes instead of/,
  ],
  [
    'sends another range',
    (_q, response) =>
      response.writeHead(206, { 'content-range': `bytes 0-0/${MODEL.length}` }).end(MODEL.subarray(0, 1)),
    /it sends bytes 0-0/,
  ],
  [
    'sends without end',
    (_q, response, from, to) => {
      response.writeHead(206, { 'content-range': `bytes ${from}-${to}/${MODEL.length}` })
      const more = (): void => void response.write(new Uint8Array(MIB), (error) => error || more())
      more()
    },
    /sends more than requested/,
  ],
  [
    'sends too little',
    (_q, response, from, to) =>
      response.writeHead(206, { 'content-range': `bytes ${from}-${to}/${MODEL.length}` }).end('x'),
    /ends after 1 of/,
  ],
  [
    'redirects in a circle',
    (_q, response) => response.writeHead(302, { location: '/model.gguf' }).end(),
    /more than 5 redirects/,
  ],
  [
    'redirects to nowhere',
    (_q, response) => response.writeHead(302, { location: 'http://' }).end(),
    /invalid redirect/,
  ],
  [
    'redirects to another protocol',
    (_q, response) => response.writeHead(302, { location: 'https://127.0.0.1/x' }).end(),
    /it redirects to https:\/\/127\.0\.0\.1/,
  ],
  ['hangs up', (request) => void request.socket.destroy(), /model\.gguf: .+/],
]
for (const [what, answer, why] of BAD_SERVERS) {
  test(`a web server that ${what} is dropped, the reason is reported, and the run sends the model`, async (context) => {
    const server = await webServer(context, answer)
    const ann = await fromWeb(context, [server.url])
    const { path } = await ann.fetch()
    assert.is(sha256(await readFile(path)), context.blob.sha256)
    assert.match(dropped(ann.understood)[0] ?? '', why)
  })
}

test('a web server that stops sending is dropped after its time limit', async (context) => {
  const server = await webServer(context, () => undefined)
  const ann = await fromWeb(context, [server.url], 200)
  await ann.fetch()
  assert.match(dropped(ann.understood)[0] ?? '', /no data for 0\.2 s/)
})

test('a peer that connects during a download is asked too', async (context) => {
  const { swarm, coordinator, invitation, blob } = context
  const known: string[] = []
  const ann = await stranger(swarm, coordinator, 2, { invitation, peers: () => known })
  // It has the list of pieces, and not the pieces.
  const empty = await member(swarm, 8)
  empty.exchange.offerFile(blob, join(empty.folder, 'gone'))
  const newcomer = await member(swarm, 9)
  await writeFile(newcomer.file, MODEL)
  newcomer.exchange.offerFile(blob, newcomer.file)
  for (const other of [empty, newcomer]) await connect(ann, other)
  await coordinator.host.close()
  known.push(empty.host.peerId)
  const obtained = ann.obtain()
  obtained.catch(() => undefined)
  const cache = await openModelCache(ann.folder)
  await eventually('the download has begun', async () => (await cache.begunBytes(blob.sha256)) > 0)
  known.push(newcomer.host.peerId)
  const { path } = await obtained
  assert.is(sha256(await readFile(path)), blob.sha256)
})

test.run()
