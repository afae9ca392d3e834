import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openAdapterLibrary, type PulledContents } from '../../node/adapters/library.js'
import { checkPulledFolder } from '../../node/adapters/pulled-folder.js'
import { throughCuts } from '../../node/adapters/web-publications.js'
import { NodeError } from '../../node/report/errors.js'
import {
  LIMITS,
  PUBLISHED_FILES,
  peerIdOfKey,
  policyIdOf,
  type SealedManifest,
  sealManifest,
} from '../../proto/index.js'
import { type BlobStore, createBlobStore, TransportError } from '../../swarm/index.js'
import { runOf, type ShownRun, showRun } from '../support/dashboard-runs.js'
import { patience } from '../support/patience.js'
import { flightManifest, flightPolicy, keyOf } from '../support/proto-samples.js'
import { noise } from '../support/swarm-nodes.js'

const MIB = LIMITS.chunkBytes.value
const key = await keyOf(5)
const run = peerIdOfKey(key)
const IN_FLIGHT = LIMITS.snapshotInFlight.value
/** More pieces than are under way at a time; the last is short. */
const PIECES = IN_FLIGHT + 3
const ADAPTER = noise((PIECES - 1) * MIB + 4321, 3)

interface Context {
  store: BlobStore
  sealed: SealedManifest
  shown: ShownRun
  folder: string
}
const test = suite<Context>('publications over HTTP')
const closing: (() => Promise<unknown>)[] = []

test.before.each(async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-web-'))
  closing.push(() => rm(folder, { recursive: true, force: true }))
  const store = await createBlobStore(join(folder, 'served'))
  const blobs = await Promise.all(
    PUBLISHED_FILES.map(async ({ role, name }) =>
      store.describe(await store.put(role === 'adapter' ? ADAPTER : Buffer.from(`what is in ${name}`)), role),
    ),
  )
  const adapter = { ...flightPolicy.adapter!, sha256: blobs[0]!.sha256, sizeBytes: ADAPTER.length }
  const policy = { ...flightPolicy, adapter }
  const sealed = await sealManifest(key, run, { ...flightManifest, policy, policyId: policyIdOf(policy), blobs })
  const shown = await showRun(runOf('busy', 0), { public: true }, { blobs: store, manifests: () => [sealed] })
  closing.push(() => shown.close())
  Object.assign(context, { store, sealed, shown, folder })
})
test.after.each(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/**
 * A way to the server that breaks off when one more piece is asked for than are under way at a time: then one has come and was kept. From
 * then on it holds, or is gone.
 */
async function brittleWay(to: string, then: 'holds' | 'is gone' | 'never breaks') {
  let [pieces, isCut] = [0, false]
  const ways = new Set<() => void>()
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(to).port), '127.0.0.1')
    const drop = (): void => {
      client.destroy()
      upstream.destroy()
      ways.delete(drop)
    }
    ways.add(drop)
    for (const socket of [client, upstream]) socket.on('error', drop).on('close', drop)
    if (isCut && then === 'is gone') return drop()
    upstream.pipe(client)
    client.on('data', (data: Buffer) => {
      if (data.includes('GET /versions/7/adapter.gguf')) pieces += 1
      if (isCut || then === 'never breaks' || pieces <= IN_FLIGHT) return upstream.write(data)
      isCut = true
      for (const dropOne of then === 'is gone' ? ways : [drop]) dropOne()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => new Promise((resolve) => server.close(resolve)))
  const { port } = server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}`, pieces: () => pieces, wasCut: () => isCut }
}

async function pull(
  { folder }: Context,
  web: string,
  { ofRun = run, contents = 'all' }: { ofRun?: string; contents?: PulledContents } = {},
): Promise<string> {
  const coordinator = { addresses: ['/ip4/127.0.0.1/tcp/1'], peerId: ofRun }
  const library = await openAdapterLibrary({ coordinator, others: [], web }, join(folder, 'data'), patience())
  try {
    const pulled = join(folder, 'pulled')
    const sealed = await library.find(undefined, patience())
    const { left } = await library.pull(sealed, pulled, contents, patience())
    assert.equal(left, [])
    return pulled
  } finally {
    await library.close()
  }
}

const failureOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => assert.unreachable(),
    (why: unknown) => why,
  )
  assert.ok(error instanceof NodeError || error instanceof TransportError, String(error))
  return error.code
}

test('a version is pulled completely from a dashboard despite an interrupted connection', async (context) => {
  const way = await brittleWay(context.shown.dashboard.url, 'holds')
  const { files, run: signer } = await checkPulledFolder(await pull(context, `${way.url}/`), run, patience())
  assert.ok(way.wasCut())
  assert.ok(files.every(({ outcome }) => outcome === 'ok') && files.length === PUBLISHED_FILES.length)
  assert.is(signer, run)
})

test('a pull of the model leaves the evidence out, and its folder is complete', async (context) => {
  const pulled = await pull(context, context.shown.dashboard.url, { contents: 'model' })
  const { files } = await checkPulledFolder(pulled, run, patience())
  assert.equal(
    files.map(({ name, outcome }) => [name, outcome]),
    PUBLISHED_FILES.flatMap(({ name, evidence }) => (evidence ? [] : [[name, 'ok']])),
  )
})

test('files of an interrupted pull are not fetched again', async (context) => {
  const first = await brittleWay(context.shown.dashboard.url, 'is gone')
  assert.is(await failureOf(pull(context, first.url)), 'no_source')
  const second = await brittleWay(context.shown.dashboard.url, 'never breaks')
  const pulled = await pull(context, second.url)
  assert.equal(new Uint8Array(await readFile(join(pulled, 'adapter.gguf'))), ADAPTER)
  assert.ok(second.pieces() < PIECES, `${second.pieces()} of ${PIECES} pieces`)
})

test('a pull is repeated as long as each attempt fetches a piece', async () => {
  const attempts = (brought: readonly number[]) => {
    let attempt = 0
    return throughCuts(async (onPiece) => {
      const pieces = brought[attempt++]
      if (pieces === undefined) return `after ${attempt} attempts`
      for (let i = 0; i < pieces; i++) onPiece()
      throw new TransportError('no_source', `attempt ${attempt}`)
    })
  }
  assert.is(await attempts([1, 3]), 'after 3 attempts')
  assert.is(await failureOf(attempts([1, 0])), 'no_source')
})

test('a file that differs from the signed manifest is refused, and a manifest of another run too', async (context) => {
  const { store, sealed, shown, folder } = context
  const other = peerIdOfKey(await keyOf(6))
  assert.is(await failureOf(pull(context, shown.dashboard.url, { ofRun: other })), 'bad_source')
  assert.is(await failureOf(pull(context, `${shown.dashboard.url}/nodes`)), 'bad_source')
  // The server has not looked yet, and then it has: either way the file is not given, or not believed.
  const { sha256 } = sealed.manifest.blobs[0]!
  const changed = ADAPTER.slice()
  changed[MIB + 5]! ^= 1
  await writeFile(store.path(sha256), changed)
  assert.is(await failureOf(pull(context, shown.dashboard.url)), 'no_such_version')
  const careless = await showRun(
    runOf('busy', 0),
    {},
    { blobs: { path: store.path, isWhole: async () => true }, manifests: () => [sealed] },
  )
  closing.push(() => careless.close())
  assert.is(await failureOf(pull(context, careless.dashboard.url)), 'no_source')
  assert.is(await stat(join(folder, 'pulled')).catch(() => null), null)
})

test('the dashboard serves ranges of a file, with its hash as tag', async ({ shown, sealed }) => {
  const file = `${shown.dashboard.url}/versions/${sealed.manifest.version}/adapter.gguf`
  const tag = `"${sealed.manifest.blobs[0]!.sha256}"`
  const ask = (headers: Record<string, string>, method = 'GET') => fetch(file, { method, headers, signal: patience() })
  const whole = await ask({})
  assert.equal([whole.status, whole.headers.get('etag'), whole.headers.get('accept-ranges')], [200, tag, 'bytes'])
  assert.equal(new Uint8Array(await whole.arrayBuffer()), ADAPTER)
  const head = await ask({}, 'HEAD')
  assert.equal([head.status, head.headers.get('content-length')], [200, String(ADAPTER.length)])
  assert.is(head.headers.get('etag'), tag)
  const part = await ask({ range: 'bytes=1000-1999', 'if-range': tag })
  assert.equal([part.status, part.headers.get('content-range')], [206, `bytes 1000-1999/${ADAPTER.length}`])
  assert.equal(new Uint8Array(await part.arrayBuffer()), ADAPTER.slice(1000, 2000))
  const rest = await ask({ range: `bytes=${ADAPTER.length - 10}-` })
  assert.equal(new Uint8Array(await rest.arrayBuffer()), ADAPTER.slice(-10))
  const another = await ask({ range: 'bytes=1000-1999', 'if-range': '"of something else"' })
  assert.equal([another.status, (await another.arrayBuffer()).byteLength], [200, ADAPTER.length])
  assert.is((await ask({ range: `bytes=${ADAPTER.length}-` })).status, 416)
  assert.is((await ask({ 'if-none-match': tag })).status, 304)
  for (const path of [
    '/versions/7/../../identity.key',
    '/versions/7/passwd',
    '/versions/8/manifest.sealed',
    '/versions/-1/adapter.gguf',
  ])
    assert.is((await fetch(shown.dashboard.url + path, { signal: patience() })).status, 404, path)
})

test.run()
