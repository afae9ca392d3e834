import { createHmac } from 'node:crypto'

/** Decides what is looked at more closely. */
export interface AuditLottery {
  /** Whether a body is drawn. @param share  of all bodies that are, 0 to 1 */
  draws(bodySha256: string, share: number): boolean
}

/**
 * A draw depends on the body's hash, so it is made only when the body is fixed, and on a secret, so nobody can look for a
 * body that is not drawn. It comes out the same however often the group is offered.
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
