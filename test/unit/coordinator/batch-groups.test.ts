import '../../../swarm/polyfill.js'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseEvent } from '../../../coordinator/ledger/events.js'
import { type BatchGroup, writeBatch } from '../../../coordinator/spool/batch-folder.js'
import { BodyError, readBatchGroups } from '../../../coordinator/versions/batch-groups.js'
import { drawsOf, judgeGroup } from '../../../judging/index.js'
import { groupBody } from '../../../proto/index.js'
import { createBlobStore } from '../../../swarm/index.js'
import { begun, judged, leased, published } from '../../support/run-events.js'
import { AMPLE, bodyOf, groundTruthScript, lendingTask, play, stageOf } from '../../support/scripted.js'

const { signal } = new AbortController()
const root = mkdtempSync(join(tmpdir(), 'prove-batch-'))
test.after(() => rmSync(root, { recursive: true, force: true }))

const stage = stageOf()
const bodies = await createBlobStore(join(root, 'bodies'))
const state = begun()
state.apply(published(0))

/** Judges a group of these scripts as the coordinator does, and puts its body and its events where they belong. */
async function accept(leaseId: string, node: string, wish: string, scripts: readonly (readonly string[])[]) {
  const task = lendingTask({ turns: [wish, 'Now take that loan back.'] })
  const rollouts = await Promise.all(scripts.map((script) => play(task, script, stage)))
  const body = groupBody.encode({ ...bodyOf(task, rollouts), leaseId })
  const expected = { leaseId, policyId: 'b2'.repeat(32), task, groupSize: scripts.length, limits: AMPLE }
  const replayed = await judgeGroup(groupBody.parse(body), expected, stage, signal)
  const bodySha256 = await bodies.put(body)
  const rewards = replayed.map(({ reward }) => reward.total)
  const backend = `backend of ${node}`
  for (const event of [leased(leaseId, node, 0, { backend }), judged(leaseId, node, 0, { bodySha256, rewards })])
    state.apply(parseEvent(JSON.parse(JSON.stringify(event)))!)
  const group: BatchGroup = {
    leaseId,
    policyVersion: 0,
    sampler: backend,
    rollouts: replayed.map(({ reward, ...rollout }) => ({ ...rollout, reward: reward.total })),
    draws: null,
  }
  return { leaseId, bodySha256, group }
}

const help = groundTruthScript(lendingTask())
const ann = await accept('a1'.repeat(16), 'ann', 'Please lend emma to Ada.', [
  help,
  ['No.', 'No.'],
  ['Later.', 'Never.'],
])
const ben = await accept('b2'.repeat(16), 'ben', 'Could Ada have emma?', [['Never.', 'No.'], help])

const read = (...leaseIds: string[]) => readBatchGroups(leaseIds, state, bodies, () => false, signal)

test('a batch of stored bodies and judged rewards is the batch of a replay, byte for byte', async () => {
  const content = { batchId: 'batch', roundId: 'round-1', baseSha256: 'ab'.repeat(32), parentStep: 0 }
  await writeBatch(join(root, 'replayed'), { ...content, groups: [ben.group, ann.group] })
  await writeBatch(join(root, 'stored'), { ...content, groups: await read(ben.leaseId, ann.leaseId) })
  for (const name of ['manifest.json', 'tokens.safetensors']) {
    const [replayed, stored] = ['replayed', 'stored'].map((spool) =>
      readFileSync(join(root, spool, 'batches', 'batch', name)),
    )
    assert.ok(stored!.equals(replayed!), name)
  }
})

test('a group that no audit has passed goes with the draws that its lease fixed', async () => {
  const [own, other] = await readBatchGroups(
    [ann.leaseId, ben.leaseId],
    state,
    bodies,
    ({ leaseId }) => leaseId === ann.leaseId,
    signal,
  )
  const seed = Buffer.from(state.leases.get(ann.leaseId)!.seed, 'hex')
  const { limits } = state.round!.terms
  assert.equal(
    own!.draws,
    own!.rollouts.map((rollout, i) => drawsOf(rollout, seed, i, limits)),
  )
  assert.is(other!.draws, null)
})

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'read'
  } catch (why) {
    assert.instance(why, BodyError)
    assert.match((why as BodyError).detail, ann.leaseId)
    return (why as BodyError).code
  }
}

test('a body that is bent in any byte, cut or gone is said to be so, with its group', async () => {
  const file = bodies.path(ann.bodySha256)
  const whole = readFileSync(file)
  const bent = fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 })).map(([at, bits]) => {
    const bytes = Buffer.from(whole)
    bytes[at]! ^= bits
    return bytes
  })
  const cut = fc.nat(whole.length - 1).map((length) => whole.subarray(0, length))
  await fc.assert(
    fc.asyncProperty(fc.oneof(bent, cut), async (bytes) => {
      writeFileSync(file, bytes)
      assert.is(await codeOf(read(ben.leaseId, ann.leaseId)), 'body_damaged')
    }),
    { seed: 971, numRuns: 100 },
  )
  rmSync(file)
  assert.is(await codeOf(read(ann.leaseId)), 'body_missing')
  writeFileSync(file, whole)
  assert.is(await codeOf(read(ann.leaseId)), 'read')
})

test('a body that is no group body, under its right hash, is damage and no fault of a node', async () => {
  const leaseId = 'c3'.repeat(16)
  const bodySha256 = await bodies.put(Uint8Array.of(1, 2, 3))
  state.apply(leased(leaseId, 'cleo', 0))
  state.apply(judged(leaseId, 'cleo', 0, { bodySha256 }))
  const why = await read(leaseId).catch((error: unknown) => error)
  assert.is(why instanceof BodyError && why.code, 'body_damaged')
})

test.run()
