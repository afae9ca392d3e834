import { z } from 'zod'
import { isSha256, type Sha256 } from './content-id.js'
import { isRefusalCode } from './errors.js'
import { LIMITS } from './limits.js'

/** A verdict as a leaf of the tree over all verdicts for a training step. */
export interface VerdictLeaf {
  readonly leaseId: string
  readonly accepted: boolean
  readonly node: string
  readonly bodySha256: Sha256
  /** Recomputed rewards of an accepted group, in rollout order. */
  readonly rewards: readonly number[]
  /** Reason of a refusal; null: accepted. */
  readonly code: string | null
  readonly credit: number
}

const DOMAIN = 'prove/verdict/1'

/** Returns the text of a leaf. Numbers are written as ECMAScript does, which every implementation of RFC 8785 repeats. */
export const verdictLeafText = (leaf: VerdictLeaf): string =>
  JSON.stringify([
    DOMAIN,
    leaf.leaseId,
    leaf.accepted,
    leaf.node,
    leaf.bodySha256,
    leaf.rewards.map((reward) => reward + 0),
    leaf.code,
    leaf.credit,
  ])

/** Whether a leaf is the verdict that accepts the group of a lease. */
export const acceptsGroup = (text: string, leaseId: string): boolean =>
  text.startsWith(`${JSON.stringify([DOMAIN, leaseId, true]).slice(0, -1)},`)

const shape = z.tuple([
  z.literal(DOMAIN),
  z.string().min(1).max(LIMITS.nameBytes.value),
  z.boolean(),
  z.string().min(1).max(LIMITS.nameBytes.value),
  z.string().refine(isSha256),
  z.array(z.number()).max(1024),
  z.string().refine(isRefusalCode).nullable(),
  z.number().min(0),
])

/** Parses the text of a leaf; null: it is none. */
export function parseVerdictLeaf(text: string): VerdictLeaf | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  const parsed = shape.safeParse(value)
  if (!parsed.success) return null
  const [, leaseId, accepted, node, bodySha256, rewards, code, credit] = parsed.data
  const leaf = { leaseId, accepted, node, bodySha256, rewards, code, credit }
  // Only one text of each leaf is valid, so that its hash is unique.
  return accepted === (code === null) && verdictLeafText(leaf) === text ? leaf : null
}
