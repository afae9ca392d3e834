import { z } from 'zod'
import { CACHE_TYPES, USUAL_CACHE } from '../../rollout/engine/index.js'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().min(0)

/** Under what a group was made: with its body all that is needed to judge it again, at home and offline. */
export const groupOriginSchema = z.strictObject({
  peerId: z.string(),
  lease: z.strictObject({
    leaseId: z.string(),
    /** Position among the node's leases of the round. */
    index: count,
    policyId: sha256,
    version: count,
    taskId: z.string(),
    /** JSON, as it came. */
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
  /** `null`: the bare base. */
  adapterSha256: sha256.nullable(),
  toolCallFormat: z.string(),
  reward: z.string(),
  /** Left out by earlier versions. */
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

/** A round that is over, with its secret (hex, 32 bytes), as a later manifest shows it. */
export const closedRoundSchema = z.strictObject({ round: count, secret: sha256 })
export type ClosedRound = z.output<typeof closedRoundSchema>
