import { mkdtempSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { offerAdapter, readTokenScores, writeAudit } from '../../../coordinator/jobs/audit-folder.js'
import { decodeFloat64s, encodeSafetensors } from '../../../coordinator/jobs/safetensors.js'
import { TokenScoreError } from '../../../coordinator/jobs/token-score-folder.js'
import { DEFAULT_LIMITS, samplerSeed, toolCallFormatNamed } from '../../../rollout/episode/index.js'
import { type AuditedRollout, drawsOf, rolesOf, turnsOf } from '../../../rollout/verification/sampled-turns.js'

const SEED = Uint8Array.from({ length: 32 }, (_, i) => i)
const END = 999
/** Tokens are code points; 999 ends a turn and is written out. */
const tokenizer = {
  detokenize: (tokens: readonly number[]) =>
    tokens.map((token) => (token === END ? '<|im_end|>' : String.fromCodePoint(token))).join(''),
  isEndOfGeneration: (token: number) => token === END,
}
const toolCallFormat = toolCallFormatNamed('hermes')
const reader = { tokenizer, toolCallFormat }

/** A rollout of sampled and environment texts in turn, beginning with the prompt. */
function rolloutOf(texts: readonly string[]): AuditedRollout {
  const parts = texts.map((text) => Array.from(text, (character) => character.codePointAt(0)!))
  const tokens = parts.flatMap((part, i) => (i % 2 === 1 ? [...part, END] : part))
  const mask = parts.flatMap((part, i) => (i % 2 === 1 ? [...part, END].map(() => 1) : part.map(() => 0)))
  return { tokens, mask: Uint8Array.from(mask), logprobs: mask.filter((bit) => bit === 1).map(() => -0.5) }
}

test('the turns of a mask are its runs of ones', () => {
  const property = fc.property(fc.array(fc.constantFrom(0, 1), { maxLength: 40 }), (bits) => {
    const mask = Uint8Array.from(bits)
    const rebuilt = new Uint8Array(bits.length)
    for (const [start, end] of turnsOf(mask)) {
      assert.ok(start < end)
      assert.ok(start === 0 || mask[start - 1] === 0)
      rebuilt.fill(1, start, end)
    }
    assert.equal(rebuilt, mask)
  })
  fc.assert(property, { numRuns: 300, seed: 5 })
})

test('every turn draws from its own seed of the lease, each token by its place in the turn', () => {
  const rollout = rolloutOf(['ask', 'call', 'result', 'done'])
  const expected = [
    ...[0, 1, 2, 3, 4].map((position) => ({ seed: samplerSeed(SEED, 3, 0), position })),
    ...[0, 1, 2, 3, 4].map((position) => ({ seed: samplerSeed(SEED, 3, 1), position })),
  ]
  assert.equal(drawsOf(rollout, SEED, 3, DEFAULT_LIMITS), expected)
  assert.is.not(drawsOf(rollout, SEED, 2, DEFAULT_LIMITS)[0]!.seed, expected[0]!.seed)
  assert.throws(() => drawsOf(rollout, SEED, 3, { ...DEFAULT_LIMITS, maxAssistantTurns: 1 }), RangeError)
})

const CALL = '<tool_call>\n{"name": "pay", "arguments": {"to": "Ann", "amount": 5}}\n</tool_call>'

test('arguments are what follows the key in a call block, whole or broken off', () => {
  const spans = (text: string): string[] =>
    toolCallFormat.argumentSpans(text).map(([start, end]) => text.slice(start, end))
  assert.equal(spans(CALL), [' {"to": "Ann", "amount": 5}}\n'])
  assert.equal(spans(`I will. ${CALL} and ${CALL}`).length, 2)
  assert.equal(spans('<tool_call>{"name":"pay","arguments":{"to'), ['{"to'])
  assert.equal(spans('<tool_call>{"name":"pay"}</tool_call> "arguments": none'), [])
  assert.equal(spans('no call, only "arguments": 5'), [])
})

test('only tokens whose text is of arguments are argument tokens, and only the last one ends its turn', () => {
  const rollout = rolloutOf(['user: pay', CALL, 'ok', 'Paid. "arguments": no'])
  const roles = rolesOf(rollout, reader)
  const sampled = rollout.tokens.filter((_, i) => rollout.mask[i] === 1)
  assert.is(roles.length, sampled.length)
  assert.equal(tokenizer.detokenize(sampled.filter((_, k) => roles[k]!.argument)), ' {"to": "Ann", "amount": 5}}\n')
  assert.equal(
    roles.flatMap(({ end }, k) => (end ? [k] : [])),
    [CALL.length, sampled.length - 1],
  )
})

test('float64 tensors come back from their bytes, and damaged bytes are refused', () => {
  const property = fc.property(fc.array(fc.double(), { maxLength: 20 }), fc.nat(), (values, at) => {
    const bytes = encodeSafetensors({ b: Float64Array.of(1), a: Float64Array.from(values) })
    const read = decodeFloat64s(bytes, ['a', 'b'])
    assert.equal([[...read.a], [...read.b]], [values, [1]])
    assert.throws(() => decodeFloat64s(bytes.subarray(0, at % bytes.length), ['a', 'b']))
    assert.throws(() => decodeFloat64s(bytes, ['a']))
    assert.throws(() => decodeFloat64s(bytes, ['a', 'c']))
  })
  fc.assert(property, { numRuns: 200, seed: 6 })
  assert.throws(() => decodeFloat64s(encodeSafetensors({ a: Float32Array.of(1) }), ['a']))
})

const JOB = {
  auditId: 'audit-1',
  baseSha256: 'b'.repeat(64),
  adapterSha256: null,
  groups: [
    { leaseId: 'one', leaseSeed: SEED, rollouts: [rolloutOf(['ask', CALL]), rolloutOf(['ask', 'no'])] },
    { leaseId: 'two', leaseSeed: SEED, rollouts: [rolloutOf(['ask', 'hm'])] },
  ],
}
const NAMES = ['logp', 'expected_mismatch', 'logit_error']

/** Answers the job as the audit process would, with the token's number as every value. */
async function answer(jobs: string, spoil: (answer: Record<string, unknown>) => void, length?: number): Promise<void> {
  const { createHash } = await import('node:crypto')
  const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
  const sampled = JOB.groups.flatMap(({ rollouts }) => rollouts.flatMap(({ logprobs }) => logprobs)).length
  const values = Float64Array.from({ length: length ?? sampled }, (_, i) => i)
  const bytes = encodeSafetensors(Object.fromEntries(NAMES.map((name) => [name, values])))
  const { mkdir } = await import('node:fs/promises')
  const folder = join(jobs, 'token-scores', JOB.auditId)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'token-scores.safetensors'), bytes)
  const manifest = await readFile(join(jobs, 'audits', JOB.auditId, 'manifest.json'))
  const content = { auditId: JOB.auditId, manifestSha256: sha256(manifest), tokenScoresSha256: sha256(bytes) }
  spoil(content)
  await writeFile(join(folder, 'audit.json'), JSON.stringify(content))
}

test('token scores are joined with the reported log-probabilities in order, and an answer to another job is refused', async () => {
  const jobs = mkdtempSync(join(tmpdir(), 'audit-'))
  try {
    await writeAudit(jobs, JOB, DEFAULT_LIMITS)
    await answer(jobs, () => {})
    const groups = await readTokenScores(jobs, JOB, DEFAULT_LIMITS, reader)
    assert.equal(
      groups.map((tokens) => tokens.length),
      JOB.groups.map(({ rollouts }) => rollouts.flatMap(({ logprobs }) => logprobs).length),
    )
    assert.equal(
      groups.flat().map(({ logp }) => logp),
      groups.flat().map((_, i) => i),
    )
    assert.ok(groups.flat().every(({ claimed }) => claimed === -0.5))
    for (const field of ['auditId', 'manifestSha256', 'tokenScoresSha256']) {
      await answer(jobs, (content) => {
        content[field] = 'another'
      })
      await refused()
    }
    await answer(jobs, () => {}, 5)
    await refused()
  } finally {
    await rm(jobs, { recursive: true })
  }

  async function refused(): Promise<void> {
    try {
      await readTokenScores(jobs, JOB, DEFAULT_LIMITS, reader)
    } catch (error) {
      assert.instance(error, TokenScoreError)
      return
    }
    assert.unreachable('the answer was taken')
  }
})

test('a job holds the draws of every sampled token and nothing that the node claims', async () => {
  const jobs = mkdtempSync(join(tmpdir(), 'audit-'))
  try {
    await writeAudit(jobs, JOB, DEFAULT_LIMITS)
    const bytes = await readFile(join(jobs, 'audits', JOB.auditId, 'tokens.safetensors'))
    const claimed = {
      ...JOB,
      auditId: 'audit-2',
      groups: JOB.groups.map((group) => ({ ...group, rollouts: lie(group) })),
    }
    await writeAudit(jobs, claimed, DEFAULT_LIMITS)
    assert.equal(await readFile(join(jobs, 'audits', 'audit-2', 'tokens.safetensors')), bytes)
    const name = await offerAdapter(jobs, Uint8Array.of(1, 2, 3))
    assert.equal([...(await readFile(join(jobs, 'adapters', `${name}.gguf`)))], [1, 2, 3])
  } finally {
    await rm(jobs, { recursive: true })
  }
})

const lie = ({ rollouts }: (typeof JOB.groups)[number]): AuditedRollout[] =>
  rollouts.map((rollout) => ({ ...rollout, logprobs: rollout.logprobs.map(() => -9) }))

test.run()
