import '../../../swarm/polyfill.js'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createGroupBodies } from '../../../coordinator/intake/group-bodies.js'
import { type BatchGroup, isBatchWhole, writeBatch } from '../../../coordinator/jobs/batch-folder.js'
import { parseEvent } from '../../../coordinator/ledger/events.js'
import { readBatchGroups } from '../../../coordinator/versions/batch-groups.js'
import { groupBody } from '../../../proto/index.js'
import { drawsOf, verifyGroupBody } from '../../../rollout/verification/index.js'
import { createBlobStore, systemClock, TransportError } from '../../../swarm/index.js'
import { begun, judged, leased, published } from '../../support/run-events.js'
import { AMPLE, bodyOf, groundTruthScript, lendingTask, play, runtimeOf } from '../../support/scripted.js'

const { signal } = new AbortController()
const root = mkdtempSync(join(tmpdir(), 'prove-batch-'))
test.after(() => rmSync(root, { recursive: true, force: true }))

const runtime = runtimeOf()
const bodies = await createBlobStore(join(root, 'bodies'))
const state = begun()
state.apply(published(0))

/** Judges a group of these scripts as the coordinator does, and puts its body and its events where they belong. */
async function accept(leaseId: string, node: string, wish: string, scripts: readonly (readonly string[])[]) {
  const task = lendingTask({ turns: [wish, 'Now take that loan back.'] })
  const rollouts = await Promise.all(scripts.map((script) => play(task, script, runtime)))
  const body = groupBody.encode({ ...bodyOf(task, rollouts), leaseId })
  const expected = { leaseId, policyId: 'b2'.repeat(32), task, groupSize: scripts.length, limits: AMPLE }
  const replayed = await verifyGroupBody(groupBody.parse(body), expected, runtime, signal)
  const bodySha256 = await bodies.put(body)
  const rewards = replayed.map(({ reward }) => reward.total)
  const backend = `backend of ${node}`
  for (const event of [leased(leaseId, node, 0, { backend }), judged(leaseId, node, 0, { bodySha256, rewards })])
    state.apply(parseEvent(JSON.parse(JSON.stringify(event)))!)
  const group: BatchGroup = {
    leaseId,
    supplier: node,
    policyVersion: 0,
    sampler: backend,
    rollouts: replayed.map(({ tokens, mask, logprobs, reward }) => ({ tokens, mask, logprobs, reward: reward.total })),
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

/** What authors still have of their groups. */
const kept = new Map<string, Uint8Array>()
const losses: string[] = []
const groupBodies = createGroupBodies({
  bodies,
  fetch: async (_, hash) => {
    const body = kept.get(hash)
    if (body) return body
    const cause = new TransportError('refused', '', { refusal: 'not_found' })
    throw new TransportError('no_source', hash, { cause })
  },
  isConnected: () => true,
  recorder: { record: async () => null },
  clock: systemClock,
  losses: { note: (part, name, outcome) => void losses.push(`${part} ${name} ${outcome}`) },
})
const read = (...leaseIds: string[]) => readBatchGroups(leaseIds, state, groupBodies, () => false, signal)

test('a batch of stored bodies and recorded rewards equals the batch of a replay, byte for byte', async () => {
  const content = { batchId: 'batch', roundId: 'round-1', baseSha256: 'ab'.repeat(32), parentStep: 0 }
  await writeBatch(join(root, 'replayed'), { ...content, groups: [ben.group, ann.group] })
  await writeBatch(join(root, 'stored'), { ...content, groups: (await read(ben.leaseId, ann.leaseId)).groups })
  for (const name of ['manifest.json', 'tokens.safetensors']) {
    const [replayed, stored] = ['replayed', 'stored'].map((jobs) =>
      readFileSync(join(root, jobs, 'batches', 'batch', name)),
    )
    assert.ok(stored!.equals(replayed!), name)
  }
})

test('a group that no audit has passed goes with the draws that its lease fixed', async () => {
  const isAnn = ({ leaseId }: { readonly leaseId: string }): boolean => leaseId === ann.leaseId
  const { groups } = await readBatchGroups([ann.leaseId, ben.leaseId], state, groupBodies, isAnn, signal)
  const [own, other] = groups
  const seed = Buffer.from(state.leases.get(ann.leaseId)!.seed, 'hex')
  const { limits } = state.round!.configuration
  assert.equal(
    own!.draws,
    own!.rollouts.map((rollout, i) => drawsOf(rollout, seed, i, limits)),
  )
  assert.is(other!.draws, null)
})

test('a body that is bent in any byte, cut or gone costs its own group alone, unless its author still has it', async () => {
  const file = bodies.path(ann.bodySha256)
  const whole = readFileSync(file)
  const bent = fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 })).map(([at, bits]) => {
    const bytes = Buffer.from(whole)
    bytes[at]! ^= bits
    return bytes
  })
  const cut = fc.nat(whole.length - 1).map((length) => whole.subarray(0, length))
  await fc.assert(
    fc.asyncProperty(fc.oneof(bent, cut, fc.constant(null)), fc.boolean(), async (bytes, authorHasIt) => {
      if (bytes) writeFileSync(file, bytes)
      else rmSync(file, { force: true })
      if (authorHasIt) kept.set(ann.bodySha256, whole)
      else kept.clear()
      losses.length = 0
      const { groups, lost } = await read(ben.leaseId, ann.leaseId)
      assert.equal(groups, authorHasIt ? [ben.group, ann.group] : [ben.group])
      assert.equal([...lost.keys()], authorHasIt ? [] : [ann.leaseId])
      assert.equal(losses, authorHasIt ? [`body ${ann.bodySha256} recovered`] : [])
      if (authorHasIt) assert.ok(readFileSync(file).equals(whole), 'it is on disk again')
    }),
    { seed: 971, numRuns: 100 },
  )
  writeFileSync(file, whole)
})

test('a body that is no group body, under its right hash, is lost, and no fault of a node', async () => {
  const leaseId = 'c3'.repeat(16)
  const bodySha256 = await bodies.put(Uint8Array.of(1, 2, 3))
  state.apply(leased(leaseId, 'cleo', 0))
  state.apply(judged(leaseId, 'cleo', 0, { bodySha256 }))
  const { lost } = await read(leaseId)
  assert.is(lost.get(leaseId)?.code, 'body_lost')
})

test('a batch in the job directory that differs in any byte from the verified one is not accepted', async () => {
  const { groups } = await read(ben.leaseId, ann.leaseId)
  const batch = { batchId: 'whole', roundId: 'round-1', baseSha256: 'ab'.repeat(32), parentStep: 0, groups }
  const folder = join(root, 'batches', 'whole')
  await writeBatch(root, batch)
  assert.ok(await isBatchWhole(root, batch))
  for (const name of ['manifest.json', 'tokens.safetensors']) {
    const whole = readFileSync(join(folder, name))
    for (const at of [0, whole.length >> 1, whole.length - 1]) {
      const bent = Buffer.from(whole)
      bent[at]! ^= 1
      writeFileSync(join(folder, name), bent)
      assert.not(await isBatchWhole(root, batch), `${name} at ${at}`)
    }
    rmSync(join(folder, name))
    assert.not(await isBatchWhole(root, batch), `no ${name}`)
    writeFileSync(join(folder, name), whole)
  }
  writeFileSync(join(folder, 'refused.json'), '{"code":')
  assert.not(await isBatchWhole(root, batch), 'a refusal that nobody can read')
})

test.run()
