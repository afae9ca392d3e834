import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  exportIdentity,
  IdentityError,
  importIdentity,
  openIdentity,
  parseJoinAddress,
  readKey,
} from '../../swarm/index.js'

const test = suite<{ folder: string }>('identity')
test.before.each(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'prove-identity-'))
})
test.after.each((context) => rm(context.folder, { recursive: true, force: true }))

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (why) {
    assert.instance(why, IdentityError)
    return (why as IdentityError).code
  }
  return 'fine'
}

test('a node keeps its key in a file that only its owner can read', async ({ folder }) => {
  const data = join(folder, 'data')
  assert.is(await readKey(data), null)
  const first = await openIdentity(data)
  const second = await openIdentity(data)
  assert.is(second.peerId, first.peerId)
  const path = join(data, 'identity.key')
  if (process.platform !== 'win32') {
    assert.is((await stat(path)).mode & 0o777, 0o600)
    await chmod(path, 0o644)
    await openIdentity(data)
    assert.is((await stat(path)).mode & 0o777, 0o600)
  }
})

test('a damaged key file is an error, and no new identity is created', async ({ folder }) => {
  await openIdentity(folder)
  await writeFile(join(folder, 'identity.key'), 'garbage')
  assert.is(await codeOf(openIdentity(folder)), 'key_unreadable')
})

test('a key with a changed bit is an error, even if the library accepts it', async ({ folder }) => {
  const { peerId } = await openIdentity(folder)
  const path = join(folder, 'identity.key')
  const whole = await readFile(path)
  for (let at = 0; at < whole.length; at++) {
    const bent = Buffer.from(whole)
    bent[at]! ^= 1
    await writeFile(path, bent)
    const read = await openIdentity(folder).catch((why: IdentityError) => why.code)
    // Some bits of the protobuf framing have no meaning.
    assert.ok(read === 'key_unreadable' || (at < 4 && typeof read !== 'string' && read.peerId === peerId), `byte ${at}`)
  }
  await writeFile(path, whole)
  assert.is((await openIdentity(folder)).peerId, peerId)
})

test('a damaged key is overwritten only by an import with replace', async ({ folder }) => {
  const { peerId, text } = await openIdentity(join(folder, 'here')).then((identity) => ({
    peerId: identity.peerId,
    text: exportIdentity(identity),
  }))
  await openIdentity(join(folder, 'damaged'))
  await writeFile(join(folder, 'damaged', 'identity.key'), 'garbage')
  assert.is(await codeOf(importIdentity(join(folder, 'damaged'), text)), 'key_unreadable')
  assert.is((await importIdentity(join(folder, 'damaged'), text, true)).peerId, peerId)
})

test('an exported key is the same identity elsewhere, and overwrites another key only on request', async ({
  folder,
}) => {
  const here = await openIdentity(join(folder, 'here'))
  const there = await openIdentity(join(folder, 'there'))
  const text = exportIdentity(here)
  assert.is((await importIdentity(join(folder, 'new'), ` ${text}\n`)).peerId, here.peerId)
  assert.is(await codeOf(importIdentity(join(folder, 'there'), text)), 'key_exists')
  assert.is((await openIdentity(join(folder, 'there'))).peerId, there.peerId)
  await importIdentity(join(folder, 'there'), text, true)
  assert.is((await openIdentity(join(folder, 'there'))).peerId, here.peerId)
  for (const bad of ['', 'hello', 'prove-key-1:', `${text.slice(0, -9)}`]) {
    assert.is(await codeOf(importIdentity(join(folder, 'bad'), bad)), 'not_a_key')
  }
})

test('a join address must contain a TCP port and the coordinator’s key', async ({ folder }) => {
  const { peerId } = await openIdentity(folder)
  assert.equal(parseJoinAddress(` /ip4/203.0.113.5/tcp/4001/p2p/${peerId}\n`), {
    addresses: [`/ip4/203.0.113.5/tcp/4001/p2p/${peerId}`],
    peerId,
  })
  assert.is(parseJoinAddress(`/dns4/swarm.example/tcp/4001/p2p/${peerId}`).peerId, peerId)
  const bad = [
    '',
    'swarm.example:4001',
    '/ip4/203.0.113.5/tcp/4001',
    `/p2p/${peerId}`,
    '/ip4/1.2.3.4/tcp/1/p2p/12D3Koo',
    `/ip4/999.1.1.1/tcp/1/p2p/${peerId}`,
  ]
  for (const text of bad) assert.throws(() => parseJoinAddress(text), TypeError)
})

test.run()
