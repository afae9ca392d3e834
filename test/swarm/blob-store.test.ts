import { type FileHandle, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LIMITS, sha256 } from '../../proto/index.js'
import { writeAll } from '../../swarm/blob-store.js'
import { createBlobStore } from '../../swarm/index.js'
import { openPartialBlob } from '../../swarm/partial-blob.js'
import { noise } from '../support/swarm-nodes.js'

const test = suite<{ folder: string }>('blob store')
test.before.each(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'prove-blobs-'))
})
test.after.each((context) => rm(context.folder, { recursive: true, force: true }))

const MIB = LIMITS.chunkBytes.value

test('partial writes are continued, and a disk that accepts no bytes is an error', async () => {
  const content = noise(100)
  const disk = new Uint8Array(120)
  /** Behaves like a disk that fills up: accepts a part, and nothing at the next write. */
  const file = (capacity: number) => ({
    write: (async (bytes: Uint8Array, from: number, length: number, at: number) => {
      const bytesWritten = Math.min(7, length, Math.max(0, capacity - at))
      disk.set(bytes.subarray(from, from + bytesWritten), at)
      return { bytesWritten, buffer: bytes }
    }) as FileHandle['write'],
  })
  assert.is(await writeAll(file(120), content, 20), 120)
  assert.equal(disk.subarray(20), content)
  const why = await writeAll(file(50), content, 20).catch((error: Error) => error)
  assert.instance(why, Error)
})

test('a blob is found only under its hash', async ({ folder }) => {
  const store = await createBlobStore(folder)
  const content = noise(1000)
  const hash = await store.put(content)
  assert.is(hash, sha256(content))
  assert.is(await store.put(content), hash)
  assert.is(sha256((await store.read(hash)) ?? new Uint8Array()), hash)
  assert.is(await store.read(sha256(noise(4, 9))), null)
  assert.equal(await store.list(), [hash])
  await store.remove(hash)
  assert.not.ok(await store.has(hash))
})

test('a changed or truncated blob is never read, and is replaced when it is stored again', async ({ folder }) => {
  const store = await createBlobStore(folder)
  const content = noise(MIB + 100)
  const hash = await store.put(content)
  const { signal } = new AbortController()
  assert.ok(await store.isWhole(hash, signal))
  for (const damaged of [content.subarray(0, MIB + 99), noise(MIB + 100, 2), new Uint8Array()]) {
    await writeFile(store.path(hash), damaged)
    assert.is(await store.read(hash), null)
    assert.not(await store.isWhole(hash, signal))
    if (damaged.length < content.length) assert.is(await store.readChunk(hash, content.length, 1), null)
    await store.put(content)
    assert.ok(await store.isWhole(hash, signal))
  }
  await store.remove(hash)
  assert.not(await store.isWhole(hash, signal))
})

test('a name from the wire never becomes a path', async ({ folder }) => {
  const store = await createBlobStore(folder)
  for (const name of ['../../etc/passwd', '', '.', 'A'.repeat(64), `${'a'.repeat(63)}/`, `${'a'.repeat(64)}\0`]) {
    assert.throws(() => store.path(name), TypeError)
  }
})

test('a copied file is described chunk by chunk', async ({ folder }) => {
  const store = await createBlobStore(join(folder, 'store'))
  const content = noise(2 * MIB + 5)
  await writeFile(join(folder, 'source'), content)
  const hash = await store.putFile(join(folder, 'source'))
  const blob = await store.describe(hash, 'adapter')
  assert.is(blob.sizeBytes, content.length)
  assert.equal(
    blob.chunkSha256s,
    [0, 1, 2].map((index) => sha256(content.subarray(index * MIB, (index + 1) * MIB))),
  )
  assert.is((await store.readChunk(hash, blob.sizeBytes, 2))?.length, 5)
  await writeFile(store.path(hash), noise(2 * MIB + 5, 2))
  await store.describe(hash, 'adapter').then(
    () => assert.unreachable(),
    (why) => assert.match(why.message, /damaged/),
  )
})

test('the next start removes the leftovers of an interrupted write', async ({ folder }) => {
  await writeFile(join(folder, '.put-0011'), 'half')
  await createBlobStore(folder)
  assert.equal(await readdir(folder), [])
})

test('a partial blob accepts only matching chunks, survives reopening, and becomes a blob only when complete', async ({
  folder,
}) => {
  const store = await createBlobStore(folder)
  const content = noise(3 * MIB - 1)
  const chunks = [0, 1, 2].map((index) => content.subarray(index * MIB, (index + 1) * MIB))
  const blob = {
    role: 'adapter',
    sha256: sha256(content),
    sizeBytes: content.length,
    chunkSha256s: chunks.map(sha256),
  } as const
  const [zero, one, two] = chunks
  assert.ok(zero && one && two)

  const first = await openPartialBlob(store, blob)
  assert.not.ok(await first.write(0, one))
  assert.not.ok(await first.write(2, two.subarray(1)))
  assert.ok(await first.write(1, one))
  assert.equal(first.missing(), [0, 2])
  assert.is(await first.read(0), null)
  await first.close()
  assert.not.ok(await store.has(blob.sha256))

  const second = await openPartialBlob(store, blob)
  assert.equal(second.missing(), [0, 2])
  assert.is(sha256((await second.read(1)) ?? new Uint8Array()), sha256(one))
  await second.write(0, zero)
  await second.write(2, two)
  await second.finish()
  assert.equal(await readdir(folder), [blob.sha256])
})

test('chunks that the map names but the file does not contain count as missing', async ({ folder }) => {
  const store = await createBlobStore(folder)
  const content = noise(2 * MIB)
  const chunkSha256s = [0, 1].map((index) => sha256(content.subarray(index * MIB, (index + 1) * MIB)))
  const blob = { role: 'adapter', sha256: sha256(content), sizeBytes: content.length, chunkSha256s } as const
  await writeFile(join(folder, `.have-${blob.sha256}`), new Uint8Array([1, 1, 1, 1]))
  const partial = await openPartialBlob(store, blob)
  assert.equal(partial.missing(), [0, 1])
  await partial.close()
})

test.run()
