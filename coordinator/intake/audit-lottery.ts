import { createHmac } from 'node:crypto'

/** Decides which groups are inspected more closely. */
export interface AuditLottery {
  /** Whether a body is drawn. @param share  expected share of drawn bodies, 0 to 1 */
  draws(bodySha256: string, share: number): boolean
}

/**
 * Creates a lottery. A draw depends on the body's hash, so the body is fixed first. The draw also depends on a secret, so that nodes
 * cannot search for a body that is not drawn. The draw is the same however often the group is offered.
 */
export function createAuditLottery(secret: Uint8Array): AuditLottery {
  return {
    draws(bodySha256, share) {
      if (share >= 1) return true
      const draw = createHmac('sha256', secret)
        .update(JSON.stringify(['prove/audit/1', bodySha256]))
        .digest()
        .readUInt32LE(0)
      return draw < share * 2 ** 32
    },
  }
}
