import { z } from 'zod'
import { CACHE_TYPES, USUAL_CACHE } from '../../rollout/engine/index.js'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().min(0)

/** Origin of a group. Together with the body, it is enough to verify the group again offline. */
export const groupOriginSchema = z.strictObject({
  peerId: z.string(),
  lease: z.strictObject({
    leaseId: z.string(),
    /** Position among the node's leases of the round. */
    index: count,
    policyId: sha256,
    version: count,
    taskId: z.string(),
    /** JSON, as received. */
    task: z.string(),
    seed: sha256,
    groupSize: count,
  }),
  round: count,
  roundSecretHash: sha256,
  limits: z.strictObject({
    maxTurnTokens: count,
    maxRolloutTokens: count,
    maxAssistantTurns: count,
    maxCalls: count,
  }),
  base: z.strictObject({ name: z.string(), sha256, quantisation: z.string() }),
  /** `null`: the base model alone. */
  adapterSha256: sha256.nullable(),
  toolCallFormat: z.string(),
  reward: z.string(),
  cacheType: z.enum(CACHE_TYPES).default(USUAL_CACHE),
})
export type GroupOrigin = z.output<typeof groupOriginSchema>

/** The newest group with a verdict. */
export interface KeptGroup {
  readonly origin: GroupOrigin
  readonly bodySha256: string
  /** An encoded group body. */
  readonly body: Uint8Array
}

/** A closed round, with the secret (hex, 32 bytes) that a later manifest reveals. */
export const closedRoundSchema = z.strictObject({ round: count, secret: sha256 })
export type ClosedRound = z.output<typeof closedRoundSchema>
