import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { ZERO_VARIANCE } from '../../../coordinator/intake/outcome.js'
import { writeAudit } from '../../../coordinator/jobs/audit-folder.js'
import { writeBatch, writeFindings } from '../../../coordinator/jobs/batch-folder.js'
import { renewLease } from '../../../coordinator/jobs/cluster.js'
import {
  auditFolder,
  batchFolder,
  FILES,
  FOLDERS,
  findingsFile,
  leaseFile,
  SCHEMA,
} from '../../../coordinator/jobs/layout.js'
import { TENSORS as EVIDENCE_TENSORS } from '../../../coordinator/jobs/token-score-folder.js'
import { ROPE_KEYS, TRAINED_ARCHITECTURES } from '../../../coordinator/settings/base-facts.js'
import { configSchema } from '../../../coordinator/settings/config.js'
import { trainerSettings } from '../../../coordinator/settings/trainer-settings.js'
import { LIMITS, PUBLISHED_FILES } from '../../../proto/index.js'
import { DEFAULT_LIMITS } from '../../../rollout/episode/index.js'
import { checkout } from '../../support/checkout.js'

/** What TypeScript and Python have to agree on, as Python wrote it down: prove_trainer/contract.py. */

interface Field {
  readonly type: string
  readonly properties?: Readonly<Record<string, Field>>
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
}
const contract = JSON.parse(readFileSync(join(checkout, 'coordinator', 'trainer', 'contract.json'), 'utf8')) as {
  readonly schema: number
  readonly trainerJson: { readonly properties: Readonly<Record<string, Field>> }
  readonly batchManifest: object
  readonly auditManifest: object
  readonly findings: object
  readonly lease: object
  readonly tensors: Readonly<Record<'batch' | 'audit' | 'tokenScores', Readonly<Record<string, string>>>>
  readonly folders: readonly string[]
  readonly files: Readonly<Record<string, string>>
  readonly stepFiles: readonly string[]
  readonly bases: { readonly architectures: readonly string[]; readonly ropeKeys: readonly string[] }
  readonly limits: Readonly<Record<string, number>>
}

interface Lease {
  readonly beat: number
}

/** Fields of `trainer.json` that the coordinator fills in, and no operator. */
const FILLED_IN = ['schema', 'baseSha256', 'canaries']

/** The schema without what only one side says: Python's defaults, and the dialect of zod's. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'default' && key !== '$schema')
      .map(([key, inner]) => [key, bare(inner)]),
  )
}

const operators = Object.fromEntries(
  Object.entries(contract.trainerJson.properties).filter(([name]) => !FILLED_IN.includes(name)),
)
const { name: _, ...baseModel } = operators.baseModel!.properties!
const settings: Readonly<Record<string, Field>> = { ...operators, baseModel: { type: 'object', properties: baseModel } }

test('trainer.settings accepts what the trainer accepts, by name, type and range', () => {
  const ours = bare(z.toJSONSchema(trainerSettings, { io: 'input' })) as { properties: Record<string, object> }
  const theirs = bare({ ...settings, baseModel: { ...settings.baseModel, additionalProperties: false } })
  assert.equal(ours.properties, theirs)
})

/** Numbers among the settings, with their paths. */
function numbers(fields: Readonly<Record<string, Field>>, path: readonly string[] = []): [string[], Field][] {
  return Object.entries(fields).flatMap(([name, field]): [string[], Field][] => {
    if (field.properties) return numbers(field.properties, [...path, name])
    return field.minimum === undefined ? [] : [[[...path, name], field]]
  })
}

/** What run.yaml is told about these settings. */
function complaintsAbout(value: object): string[] {
  const read = configSchema.safeParse({
    ...{ dataDir: 'data', base: { path: 'base.gguf', name: 'base' }, tasks: { dataset: 'tasks' } },
    trainer: { settings: value },
  })
  return read.success ? [] : read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
}

test('a setting out of range, of the wrong type or misspelt is refused with its path when run.yaml is read', () => {
  const found = numbers(settings)
  assert.ok(found.length > 20)
  for (const [path, { type, minimum, maximum }] of found) {
    const about = (value: unknown): string[] =>
      complaintsAbout(path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object)
    const step = type === 'integer' ? 1 : 1e-9
    for (const value of [minimum, maximum]) assert.equal(about(value), [])
    for (const value of [minimum! - step, maximum! + Math.max(step, maximum! * 1e-9), '1', null, Number.NaN]) {
      const [complaint, ...others] = about(value)
      assert.ok(complaint?.startsWith(`trainer.settings.${path.join('.')}: `), `${complaint} about ${value}`)
      assert.equal(others, [])
    }
  }
  assert.equal(complaintsAbout({ loss: { clipHihg: 0.3 } }), ['trainer.settings.loss: Unrecognized key: "clipHihg"'])
  for (const name of FILLED_IN) assert.equal(complaintsAbout({ [name]: 1 }).length, 1, name)
  assert.equal(complaintsAbout({ lora: { targetModules: ['q_proj', 'q_proj'] } }), [
    'trainer.settings.lora.targetModules: a module is named twice',
  ])
})

test('limits that both sides have are the same', () => {
  const { flatReward, staleness, rank, alpha, idLength, canaries, canaryTokens, nameLength } = contract.limits
  assert.is(ZERO_VARIANCE, flatReward)
  assert.is(LIMITS.staleness.value, staleness)
  assert.is(LIMITS.adapterRank.value, rank)
  assert.is(LIMITS.adapterAlpha.value, alpha)
  assert.is(LIMITS.canaryTokens.value, canaryTokens)
  assert.is(LIMITS.canaries.value, canaries)
  assert.ok(LIMITS.nameBytes.value <= nameLength!)
  assert.ok(2 * 16 <= idLength!, 'a group is named by its lease')
})

test('the names in the job directory are the same', () => {
  assert.equal(FILES, contract.files)
  assert.equal(Object.values(FOLDERS), contract.folders)
  assert.is(SCHEMA, contract.schema)
  for (const { inStep } of PUBLISHED_FILES) if (inStep) assert.ok(contract.stepFiles.includes(inStep), inStep)
  assert.equal(
    EVIDENCE_TENSORS.map((name) => contract.tensors.tokenScores[name]),
    EVIDENCE_TENSORS.map(() => 'float64'),
  )
  assert.is(EVIDENCE_TENSORS.length, Object.keys(contract.tensors.tokenScores).length)
})

const DTYPES: Readonly<Record<string, string>> = { I32: 'int32', U32: 'uint32', U8: 'uint8', F32: 'float32' }

const schemaOf = (schema: object) => z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])

/** Checks a folder of the spool against what the trainer will make of it. */
function check(folder: string, manifest: object, tensors: Readonly<Record<string, string>>): void {
  schemaOf(manifest).parse(JSON.parse(readFileSync(join(folder, FILES.manifest), 'utf8')))
  const bytes = readFileSync(join(folder, FILES.tokens))
  const header = JSON.parse(bytes.toString('utf8', 8, 8 + Number(bytes.readBigUInt64LE(0)))) as object
  const written = Object.entries(header).map(([name, { dtype }]) => [name, DTYPES[dtype as string]])
  assert.equal(Object.fromEntries(written.sort()), Object.fromEntries(Object.entries(tensors).sort()))
}

test('batches, findings and audits are written in the form that the trainer reads', async () => {
  const jobs = mkdtempSync(join(tmpdir(), 'prove-contract-'))
  const baseSha256 = 'ab'.repeat(32)
  const rollout = { tokens: [1, 2, 3], mask: Uint8Array.of(0, 1, 1), logprobs: [-0.5, -0.25] }
  try {
    const group = {
      ...{ leaseId: 'lease-1', supplier: 'ann', policyVersion: 3, sampler: 'cpu' },
      rollouts: [{ ...rollout, reward: 1.25 }],
    }
    const draw = { seed: 2 ** 32 - 1, position: 0 }
    for (const draws of [null, [[draw, { ...draw, position: 1 }]]]) {
      const batchId = `batch-${draws?.length}`
      const groups = [{ ...group, draws }]
      await writeBatch(jobs, { batchId, roundId: 'round-5', baseSha256, parentStep: 4, groups })
      check(batchFolder(jobs, batchId), contract.batchManifest, contract.tensors.batch)
      await writeFindings(jobs, batchId, draws ? ['lease-1'] : [])
      schemaOf(contract.findings).parse(JSON.parse(readFileSync(findingsFile(jobs, batchId), 'utf8')))
    }
    await writeBatch(jobs, {
      ...{ batchId: 'back', roundId: 'round-5', baseSha256 },
      parentStep: 4,
      backTo: 2,
      groups: [],
    })
    check(batchFolder(jobs, 'back'), contract.batchManifest, contract.tensors.batch)
    const audited = { leaseId: 'lease-1', leaseSeed: new Uint8Array(32), rollouts: [rollout] }
    for (const adapterSha256 of [null, 'cd'.repeat(32)]) {
      const auditId = `audit-${adapterSha256}`
      await writeAudit(jobs, { auditId, baseSha256, adapterSha256, groups: [audited] }, DEFAULT_LIMITS)
      check(auditFolder(jobs, auditId), contract.auditManifest, contract.tensors.audit)
    }
  } finally {
    rmSync(jobs, { recursive: true })
  }
})

test('a lease is renewed in the form that ranks read, and withdrawn', async () => {
  const jobs = mkdtempSync(join(tmpdir(), 'prove-contract-'))
  const read = () => schemaOf(contract.lease).parse(JSON.parse(readFileSync(leaseFile(jobs), 'utf8'))) as Lease
  try {
    mkdirSync(join(jobs, FOLDERS.launch))
    const lease = await renewLease(jobs, 'ab12', 60)
    const first = read()
    assert.equal(first, { schema: 1, life: 'ab12', beat: 0, silenceMs: 60 })
    const signal = AbortSignal.timeout(60_000)
    while (read().beat === first.beat) {
      signal.throwIfAborted()
      await new Promise((done) => setTimeout(done, 5))
    }
    await lease.withdraw()
    assert.not.ok(existsSync(leaseFile(jobs)))
  } finally {
    rmSync(jobs, { recursive: true })
  }
})

test('a start accepts the bases that the trainer trains', () => {
  assert.equal([TRAINED_ARCHITECTURES, ROPE_KEYS], [contract.bases.architectures, contract.bases.ropeKeys])
})

test.run()
