import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type BatchContent, writeBatch } from '../../../coordinator/jobs/batch-folder.js'
import { encodeSafetensors, type FlatTensor } from '../../../coordinator/jobs/safetensors.js'
import { sha256 } from '../../../proto/index.js'
import { estimate, meanInterval, shareInterval } from '../../../rollout/episode/index.js'
import { groundTruthScript, lendingTask, play, runtimeOf } from '../../support/scripted.js'

const near = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual - expected) < 1e-12, `${actual} instead of ${expected}`)

test('an estimate is the mean and its standard error', () => {
  const { mean, stderr } = estimate([1, 2, 3, 4])
  near(mean, 2.5)
  // Squared deviations 2.25 + 0.25 + 0.25 + 2.25 = 5; variance 5/3; standard error sqrt(5/12).
  near(stderr, Math.sqrt(5 / 12))
  assert.equal(estimate([7, 7]), { mean: 7, stderr: 0 })
  for (const values of [[], [1]])
    assert.throws(
      () => estimate(values),
      (error: Error) => error instanceof RangeError,
    )
})

test('the interval of a mean is Student’s, and where all values were alike there is none', () => {
  const margin = (n: number): number => meanInterval({ mean: 1, stderr: 1 }, n)!.high - 1
  // From a table of the distribution, for 1, 2, 3, 9, 49 and 1,000 degrees of freedom.
  const table = [12.7062, 4.30265, 3.18245, 2.26216, 2.00958, 1.96234]
  for (const [i, n] of [2, 3, 4, 10, 50, 1001].entries())
    assert.ok(Math.abs(margin(n) / table[i]! - 1) < 0.01, `${n}: ${margin(n)}`)
  assert.is(meanInterval(estimate([0.1, 0.1, 0.1]), 3), null)
})

test('the interval of a share is Wilson’s, also of none and of all', () => {
  const interval = (share: number, n: number): number[] => {
    const { low, high } = shareInterval(share, n)
    return [low, high].map((end) => Number(end.toFixed(4)))
  }
  assert.equal(interval(0, 10), [0, 0.2775])
  assert.equal(interval(1, 10), [0.7225, 1])
  assert.equal(interval(0.5, 50), [0.3664, 0.6336])
})

/** Reads a safetensors file back, by the format's description alone. */
function readBack(bytes: Uint8Array): Record<string, { dtype: string; shape: number[]; data: Uint8Array }> {
  const buffer = Buffer.from(bytes)
  const length = Number(buffer.readBigUInt64LE(0))
  assert.is(length % 8, 0)
  const header = JSON.parse(buffer.toString('utf8', 8, 8 + length)) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >
  const body = buffer.subarray(8 + length)
  const spans = Object.values(header).map(({ data_offsets: [from, to] }) => [from, to] as const)
  let at = 0
  for (const [from, to] of spans) {
    assert.is(from, at, 'the tensors lie one after the other without gaps')
    at = to
  }
  assert.is(at, body.length)
  return Object.fromEntries(
    Object.entries(header).map(
      ([
        name,
        {
          dtype,
          shape,
          data_offsets: [from, to],
        },
      ]) => [name, { dtype, shape, data: new Uint8Array(body.subarray(from, to)) }],
    ),
  )
}

const tensor: fc.Arbitrary<FlatTensor> = fc.oneof(
  fc.int32Array({ maxLength: 9 }),
  fc.uint8Array({ maxLength: 9 }),
  fc.float32Array({ maxLength: 9 }),
)

test('safetensors hold every tensor as it was, whatever the types and lengths', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[a-z_]{1,12}$/), tensor, { maxKeys: 5 }), (tensors) => {
      const read = readBack(encodeSafetensors(tensors))
      assert.equal(Object.keys(read).sort(), Object.keys(tensors).sort())
      for (const [name, data] of Object.entries(tensors)) {
        const dtype = data instanceof Int32Array ? 'I32' : data instanceof Uint8Array ? 'U8' : 'F32'
        assert.is(read[name]!.dtype, dtype)
        assert.equal(read[name]!.shape, [data.length])
        assert.equal(
          read[name]!.data,
          new Uint8Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)),
        )
      }
    }),
    { numRuns: 100, seed: 20260302 },
  )
})

test('a view into a larger buffer is written without its surroundings', () => {
  const view = Int32Array.from([1, 2, 3, 4]).subarray(1, 3)
  assert.equal(readBack(encodeSafetensors({ view })).view!.data, new Uint8Array(Int32Array.from([2, 3]).buffer))
})

async function inTemporaryFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'jobs-'))
  try {
    await use(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const runtime = runtimeOf()
const task = lendingTask()
const rollouts = [await play(task, groundTruthScript(task), runtime), await play(task, ['No.', 'No.'], runtime)]
const batch: BatchContent = {
  batchId: 'batch-1',
  roundId: 'round-1',
  baseSha256: 'ab'.repeat(32),
  parentStep: 4,
  groups: [
    {
      leaseId: 'lease-1',
      supplier: 'ann',
      policyVersion: 3,
      sampler: 'cpu',
      rollouts: rollouts.map(({ reward, ...rollout }) => ({ ...rollout, reward: reward.total })),
      draws: rollouts.map(({ logprobs }, i) => logprobs.map((_, position) => ({ seed: 2 ** 32 - 1 - i, position }))),
    },
  ],
}

test('a batch contains concatenated rollouts, with each log-probability and each draw at its token', () =>
  inTemporaryFolder(async (jobs) => {
    await writeBatch(jobs, batch)
    const folder = join(jobs, 'batches', 'batch-1')
    assert.equal((await readdir(join(jobs, 'batches'))).sort(), ['batch-1'])
    const tokens = await readFile(join(folder, 'tokens.safetensors'))
    const { ids, loss_mask: mask, sampler_logp: logps, cu_seqlens: starts, ...tensors } = readBack(tokens)
    const total = rollouts[0]!.tokens.length + rollouts[1]!.tokens.length
    assert.equal([...new Int32Array(starts!.data.buffer)], [0, rollouts[0]!.tokens.length, total])
    assert.equal(
      [...new Int32Array(ids!.data.buffer)],
      rollouts.flatMap((rollout) => [...rollout.tokens]),
    )
    assert.equal(
      [...mask!.data],
      rollouts.flatMap((rollout) => [...rollout.mask]),
    )
    const beside = (valuesOf: (i: number) => readonly number[]): number[] =>
      rollouts.flatMap(({ mask: bits }, i) => {
        let sampled = 0
        return [...bits].map((bit) => (bit === 1 ? valuesOf(i)[sampled++]! : 0))
      })
    assert.equal(
      [...new Float32Array(logps!.data.buffer)],
      beside((i) => rollouts[i]!.logprobs),
    )
    for (const [name, part] of [
      ['draw_seed', 'seed'],
      ['draw_position', 'position'],
    ] as const)
      assert.equal(
        [...new Uint32Array(tensors[name]!.data.buffer)],
        beside((i) => batch.groups[0]!.draws![i]!.map((draw) => draw[part])),
      )
    assert.equal(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')), {
      schema: 1,
      batchId: 'batch-1',
      roundId: 'round-1',
      baseSha256: 'ab'.repeat(32),
      parentStep: 4,
      tokensSha256: sha256(tokens),
      rollouts: rollouts.map((rollout) => ({
        group: 'lease-1',
        reward: rollout.reward.total,
        policyVersion: 3,
        sampler: 'cpu',
        supplier: 0,
        length: rollout.tokens.length,
        audit: true,
      })),
    })
  }))

test('writing a batch twice leaves it as it was, and a draft left by a crash is replaced', () =>
  inTemporaryFolder(async (jobs) => {
    await writeBatch(jobs, batch)
    const manifest = join(jobs, 'batches', 'batch-1', 'manifest.json')
    await writeFile(manifest, 'read by the trainer already')
    await writeBatch(jobs, batch)
    assert.is(await readFile(manifest, 'utf8'), 'read by the trainer already')
    const draft = join(jobs, 'batches', 'batch-2.tmp')
    await writeBatch(jobs, { ...batch, batchId: 'batch-2.tmp' })
    await writeFile(join(draft, 'half-written'), '')
    await writeBatch(jobs, { ...batch, batchId: 'batch-2' })
    assert.equal((await readdir(join(jobs, 'batches', 'batch-2'))).sort(), ['manifest.json', 'tokens.safetensors'])
    assert.equal((await readdir(join(jobs, 'batches'))).sort(), ['batch-1', 'batch-2'])
  }))

test.run()
