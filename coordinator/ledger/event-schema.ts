import { z } from 'zod'
import { isRefusalCode, type RefusalCode } from '../../proto/index.js'
import type { RunEvent } from './events.js'

const count = z.int().min(0)
const number = z.number()
const text = z.string().max(4096)
const hash = z.string().regex(/^[0-9a-f]{64}$/)
const bitmap = z.base64()
const lease = z.string().min(1).max(128)
const code = z.string().refine((value): value is RefusalCode => isRefusalCode(value))

/** One schema per kind of event: a kind without one does not compile. Fields that a later version added are kept. */
const FIELDS = {
  published: {
    round: count,
    version: count,
    step: count,
    adapterStep: count,
    policyId: hash,
    manifestId: hash,
    adapterSha256: hash,
    roundSecret: hash,
    resting: bitmap,
  },
  reopened: { round: count, version: count, manifestId: hash, roundSecret: hash, resting: bitmap },
  registered: { node: text, round: count },
  leased: {
    leaseId: lease,
    round: count,
    index: count,
    node: text,
    version: count,
    taskIndex: count,
    seed: hash,
    deadlineMs: number,
    backend: text,
    drawsReplay: z.boolean(),
  },
  renewed: { leaseId: lease, deadlineMs: number },
  released: { leaseId: lease, reason: text },
  judged: {
    leaseId: lease,
    node: text,
    version: count,
    bodySha256: hash,
    accepted: z.boolean(),
    code: code.nullable(),
    detail: text,
    credit: number.min(0),
    rewards: z.array(number).max(1024),
    flat: z.boolean(),
    audit: z.enum(['none', 'passed', 'failed']),
    addressBlock: text.nullable(),
    completions: z.array(z.string().regex(/^[0-9a-f]{16}$/)).max(1024),
    calls: count,
    solved: count,
  },
  audited: { leaseId: lease, node: text, accepted: z.boolean(), code: code.nullable(), detail: text },
  'world-quarantined': { server: text, leaseId: lease },
  batched: { batchId: text, step: count, leaseIds: z.array(lease).max(65_536) },
  trained: { batchId: text, step: count, skipped: z.boolean() },
  'batch-refused': { batchId: text, code: text, detail: text },
} as const satisfies { readonly [K in RunEvent['type']]: Readonly<Record<string, z.ZodType>> }

const SCHEMAS = new Map(
  Object.entries(FIELDS).map(([type, fields]) => [
    type,
    z
      .looseObject({ type: z.literal(type), atMs: number, ...fields })
      // A refusal says why; the fold decides by it.
      .refine((event) => !('accepted' in event) || event.accepted === (event.code === null)),
  ]),
)

/** An event as the log holds it, or undefined for what no version of this program wrote. */
export function parseEvent(value: unknown): RunEvent | undefined {
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined
  const schema = typeof type === 'string' ? SCHEMAS.get(type) : undefined
  // The schema of a kind checks the fields of that kind, which TypeScript does not see through the map.
  return schema?.safeParse(value).success ? (value as RunEvent) : undefined
}
