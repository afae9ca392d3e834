import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readTokenScores, writeAudit } from '../../../coordinator/jobs/audit-folder.js'
import { TrainerError } from '../../../coordinator/jobs/errors.js'
import { decodeFloat64s, encodeSafetensors } from '../../../coordinator/jobs/safetensors.js'
import { readStep } from '../../../coordinator/jobs/step-folder.js'
import { TokenScoreError } from '../../../coordinator/jobs/token-score-folder.js'
import { DEFAULT_LIMITS, toolCallFormatNamed } from '../../../rollout/episode/index.js'
import { type Calibration, CalibrationError, parseCalibration } from '../../../rollout/verification/index.js'
import { LOGIT_ERROR_EDGES } from '../../../rollout/verification/logit-error-tail.js'

/** Files of the spool and of calibrations as a crash, a bad disk or a hostile hand may leave them. */

const root = mkdtempSync(join(tmpdir(), 'prove-spool-'))
test.after(() => rmSync(root, { recursive: true, force: true }))

/** What JSON can say that is not what was meant. */
const RAW = fc.constantFrom(
  ...['1e999', '-1', '1.5', '9007199254740993', 'true', 'null', '""', '"\\ud800"', '[]', '{}', '[[1]]'],
  ...['{"__proto__":1}', '"../../x"', `${'['.repeat(2000)}${']'.repeat(2000)}`, '['.repeat(5000), '"open', '1 2'],
  `"${'x'.repeat(5000)}"`,
)

/** Paths to everything in a JSON value. */
function places(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return [path, ...entries.flatMap(([key, part]) => places(part, [...path, key]))]
}

/** The value as JSON, with `raw` in place of what is at the path. */
function withRaw(value: unknown, [key, ...rest]: readonly string[], raw: string): string {
  if (key === undefined) return raw
  const text = (k: string, part: unknown): string => (k === key ? withRaw(part, rest, raw) : JSON.stringify(part))
  if (Array.isArray(value)) return `[${value.map((part, i) => text(String(i), part)).join()}]`
  const entries = Object.entries(value as object)
  return `{${entries.map(([k, part]) => `${JSON.stringify(k)}:${text(k, part)}`).join()}}`
}

/** Texts that were this JSON once: something else in one place, a stretch cut out or replaced. */
function bent(value: object): fc.Arbitrary<string> {
  const text = JSON.stringify(value)
  const at = fc.nat(text.length)
  return fc.oneof(
    fc.tuple(fc.constantFrom(...places(value)), RAW).map(([path, raw]) => withRaw(value, path, raw)),
    fc
      .tuple(at, at, fc.string({ unit: 'binary', maxLength: 6 }))
      .map(([a, b, junk]) => text.slice(0, Math.min(a, b)) + junk + text.slice(Math.max(a, b))),
  )
}

/** `accepted`, or the code of an error of this class; any other error fails the test. */
async function codeOf(work: () => unknown, kind: abstract new (...args: never[]) => Error): Promise<string> {
  try {
    await work()
    return 'accepted'
  } catch (why) {
    assert.instance(why, kind)
    assert.ok((why as Error).message.length < 2000, `a message of ${(why as Error).message.length} characters`)
    return (why as Error & { code: string }).code
  }
}

const hash = (name: string): string => createHash('sha256').update(name).digest('hex')

const STEP = {
  step: 3,
  batchId: 'step-3-ab',
  skipped: null,
  adapterStep: 3,
  lora: { rank: 4, alpha: 8, targetModules: ['q_proj', 'v_proj'] },
  warmStart: null,
  files: { 'adapter.gguf': hash('adapter') },
  stats: { loss: -0.25 },
  canaries: [
    {
      ...{ prompt: [1, 2], continuation: [3], base: [-0.5], adapter: [-0.25] },
    },
  ],
}

test('any step record is read as it stands, or refused as the trainer’s fault', async () => {
  const folder = join(root, 'steps', 'step-3')
  mkdirSync(folder, { recursive: true })
  const read = async (text: string): Promise<string> => {
    writeFileSync(join(folder, 'step.json'), text)
    return codeOf(async () => {
      const { step, lora, canaries } = await readStep(root, 3)
      assert.is(step, 3)
      assert.ok(Number.isFinite(lora.alpha))
      assert.ok(canaries.every(({ base, adapter }) => [...base, ...adapter].every(Number.isFinite)))
    }, TrainerError)
  }
  assert.is(await read(JSON.stringify(STEP)), 'accepted')
  assert.is(await read(JSON.stringify({ ...STEP, step: 2 })), 'trainer_failed')
  assert.is(await read(JSON.stringify({ ...STEP, adapterStep: 4 })), 'trainer_failed')
  assert.is(await codeOf(() => readStep(root, 4), TrainerError), 'trainer_failed')
  await fc.assert(
    fc.asyncProperty(bent(STEP), async (text) => void (await read(text))),
    { seed: 951, numRuns: 400 },
  )
})

const LIMITS = {
  deviation: { usual: 0.001, within: 1e-5, between: 1e-6 },
  bias: { usual: 0, within: 1e-5, between: 1e-6 },
  ...{ farClaim: 0.1, grossClaim: 1, farClaimRate: 0.01 },
  ...{ logitError: 0.01, missRate: 0.1, farLogitError: 0.02, grossLogitError: 0.1, farLogitErrorRate: 0.01 },
}
const SHARE = { count: 0, of: 20, share: 0, low: 0, high: 0.17 }
const CALIBRATION: Calibration = {
  schema: 5,
  subject: {
    ...{ baseSha256: hash('base'), adapters: [], quantisation: 'f16', backend: 'cpu' },
    ...{ draw: 'gumbel-murmur3', nodeLlamaCpp: '3' },
  },
  groups: 20,
  sampledTokens: 9000,
  thresholds: { level: 0.0005, all: LIMITS, arguments: LIMITS },
  logitErrorTail: LOGIT_ERROR_EDGES.map(() => 0.001),
  canary: { canaries: 3, policies: 1, tokens: 40, worstMean: 0.001, worstToken: 0.01 },
  honest: { misses: { '0.5': 0, max: 2 } },
  falseRefusals: { goal: 0.005, confidence: 0.95, measured: SHARE, byCode: {} },
}

test('any calibration is refused, or has limits that are numbers above zero', async () => {
  const read = (text: string): Promise<string> =>
    codeOf(() => {
      const { thresholds } = parseCalibration(text)
      for (const limits of [thresholds.all, thresholds.arguments]) {
        const { deviation, bias, ...single } = limits
        for (const part of [...Object.values(deviation), ...Object.values(bias)])
          assert.ok(Number.isFinite(part) && part >= 0, `${part}`)
        for (const [name, limit] of Object.entries(single))
          assert.ok(Number.isFinite(limit) && limit > 0, `${name} is ${limit}`)
      }
    }, CalibrationError)
  assert.is(await read(JSON.stringify(CALIBRATION)), 'accepted')
  await fc.assert(
    fc.asyncProperty(bent(CALIBRATION), async (text) => void (await read(text))),
    { seed: 953, numRuns: 600 },
  )
})

test('tensors with a lying header are refused, or lie within their file', () => {
  const good = encodeSafetensors({ a: Float64Array.of(1, 2, 3), b: Float64Array.of(4) })
  const length = Number(new DataView(good.buffer, good.byteOffset).getBigUint64(0, true))
  const header = JSON.parse(new TextDecoder().decode(good.subarray(8, 8 + length))) as object
  const data = good.subarray(8 + length)
  const refusedOrWhole = (bytes: Uint8Array): void => {
    let read: Record<'a' | 'b', Float64Array>
    try {
      read = decodeFloat64s(bytes, ['a', 'b'])
    } catch (why) {
      assert.instance(why, Error)
      return
    }
    assert.ok(8 * (read.a.length + read.b.length) <= 2 * bytes.length)
  }
  const lie = fc.tuple(bent(header), fc.constantFrom(0, 1, 2 ** 31, 2 ** 53 - 1, -1)).map(([text, offset]) => {
    const json = new TextEncoder().encode(text)
    const size = new Uint8Array(8)
    new DataView(size.buffer).setBigUint64(0, BigInt.asUintN(64, BigInt(offset === 0 ? json.length : offset)), true)
    return new Uint8Array(Buffer.concat([size, json, data]))
  })
  const flipped = fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 })).map(([at, bits]) => {
    const bytes = Uint8Array.from(good)
    bytes[at]! ^= bits
    return bytes
  })
  fc.assert(fc.property(fc.oneof(lie, flipped, fc.uint8Array({ maxLength: 40 })), refusedOrWhole), {
    seed: 957,
    numRuns: 800,
  })
})

const PLAIN = {
  tokenizer: { detokenize: (tokens: readonly number[]) => tokens.join(' '), isEndOfGeneration: () => false },
  toolCallFormat: toolCallFormatNamed('hermes'),
}
const JOB = {
  auditId: 'audit-1',
  baseSha256: hash('base'),
  adapterSha256: null,
  groups: [
    {
      leaseId: 'one',
      leaseSeed: new Uint8Array(32),
      rollouts: [{ tokens: [1, 2, 3], mask: Uint8Array.of(0, 1, 1), logprobs: [-0.5, -0.25] }],
    },
  ],
}

test('a missing, truncated or damaged answer of the audit process gives no token scores', async () => {
  await writeAudit(root, JOB, DEFAULT_LIMITS)
  const folder = join(root, 'token-scores', JOB.auditId)
  const read = (): Promise<string> => codeOf(() => readTokenScores(root, JOB, DEFAULT_LIMITS, PLAIN), TokenScoreError)
  assert.is(await read(), 'bad_token_scores')
  mkdirSync(folder, { recursive: true })
  const NAMES = ['logp', 'expected_mismatch', 'logit_error']
  const tensors = encodeSafetensors(Object.fromEntries(NAMES.map((name) => [name, Float64Array.of(-1, -2)])))
  const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
  const record = {
    auditId: JOB.auditId,
    manifestSha256: sha256(readFileSync(join(root, 'audits', JOB.auditId, 'manifest.json'))),
    tokenScoresSha256: sha256(tensors),
  }
  const write = (text: string, bytes: Uint8Array): void => {
    writeFileSync(join(folder, 'audit.json'), text)
    writeFileSync(join(folder, 'token-scores.safetensors'), bytes)
  }
  write(JSON.stringify(record), tensors)
  assert.is(await read(), 'accepted')
  await fc.assert(
    fc.asyncProperty(bent(record), fc.nat(tensors.length - 1), fc.boolean(), async (text, at, cut) => {
      write(cut ? JSON.stringify(record) : text, cut ? tensors.subarray(0, at) : tensors)
      const outcome = await read()
      if (cut) assert.is(outcome, 'bad_token_scores')
    }),
    { seed: 967, numRuns: 300 },
  )
})

test.run()
