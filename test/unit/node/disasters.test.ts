import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { diskError } from '../../../common/cli/run-program.js'
import { NodeError } from '../../../node/report/errors.js'
import { openOwnKey, recordsFolder } from '../../../node/session/own-key.js'
import { openNodeDatabase, openNodeStore } from '../../../node/store/store.js'
import type { Verdict } from '../../../proto/index.js'

const test = suite<{ folder: string }>('disasters of a node')
test.before.each(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'prove-disaster-'))
})
test.after.each(({ folder }) => rm(folder, { recursive: true, force: true }))

async function failure(work: Promise<unknown>): Promise<NodeError> {
  const error = await work.then(
    () => null,
    (why: unknown) => why,
  )
  assert.instance(error, NodeError)
  return error as NodeError
}

const verdict = (i: number): Verdict => ({
  ...{ leaseId: `lease-${i}`, bodySha256: 'a'.repeat(64), accepted: true, code: null },
  ...{ detail: 'x'.repeat(200), credit: 16, receivedAtMs: i },
})

test('a full disk is an error that says what was written and what to type, whatever library met it', async ({ folder }) => {
  const told = await writeFile('/dev/full', 'a group').then(
    () => null,
    (error: unknown) => diskError(error),
  )
  // Other systems than Linux have no such file.
  if (process.platform === 'linux') assert.match(told!.message, /^disk_full: .*could not be written.*--data-dir/)
  const fromLevel = new Error('write failed', { cause: new Error(`IO error: ${folder}/000003.log: No space left on device`) })
  assert.match(diskError(fromLevel)!.message, /^disk_full: .*000003\.log.*Free some space on that disk/s)
  assert.is(diskError(new Error('something else')), null)
})

test('a key that is missing next to records is not replaced by a new one', async ({ folder }) => {
  const first = await openOwnKey(folder)
  const store = await openNodeStore(recordsFolder(folder), 'run')
  await store.addVerdicts(0, [verdict(0)])
  await store.close()
  await rm(join(folder, 'identity.key'))
  const { code, detail } = await failure(openOwnKey(folder))
  assert.is(code, 'key_missing')
  assert.match(detail, /no identity\.key.*prove-node identity import KEY --data-dir/)
  const empty = join(folder, 'other')
  await mkdir(empty)
  assert.is.not((await openOwnKey(empty)).peerId, first.peerId)
})

test('a store that cannot be opened says what it loses, and what to type', async ({ folder }) => {
  const records = recordsFolder(folder)
  await (await openNodeDatabase(records)).close()
  const manifest = (await readdir(records)).find((name) => name.startsWith('MANIFEST'))!
  await writeFile(join(records, manifest), 'bent')
  const { code, detail } = await failure(openNodeDatabase(records))
  assert.is(code, 'unreadable')
  assert.match(detail, /is damaged: .*mv .*store .*store\.damaged\. The key and the credit stay/)
})

test('verdicts that a damaged disk has dropped are counted, once', async ({ folder }) => {
  const records = recordsFolder(folder)
  const store = await openNodeStore(records, 'run')
  for (let i = 0; i < 10; i++) await store.addVerdicts(i, [verdict(i)])
  assert.is(await store.missingVerdicts(), 0)
  await store.close()
  const log = (await readdir(records)).find((name) => name.endsWith('.log'))!
  const bytes = await readFile(join(records, log))
  const at = bytes.indexOf('lease-8')
  bytes[at] = bytes[at]! ^ 1
  await writeFile(join(records, log), bytes)
  const bent = await openNodeStore(records, 'run')
  const lost = 10 - (await bent.verdicts()).length
  assert.ok(lost > 0, 'LevelDB drops them without an error')
  assert.is(await bent.missingVerdicts(true), lost)
  assert.is(await bent.missingVerdicts(), 0, 'the loss is reported once')
  const again = await bent.verdictCount()
  for (let i = again; i < 10; i++) await bent.addVerdicts(i, [verdict(i)])
  assert.equal([(await bent.verdicts()).length, await bent.missingVerdicts()], [10, 0])
  await bent.close()
})

test.run()
