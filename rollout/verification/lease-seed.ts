import { createHash, createHmac, randomBytes } from 'node:crypto'

/** Creates the secret of a round, 32 bytes. Its hash is published when the round opens, the secret when the round is over. */
export const newRoundSecret = (): Buffer => randomBytes(32)

export const roundSecretHash = (secret: Uint8Array): string => createHash('sha256').update(secret).digest('hex')

/**
 * Returns the seed of a lease: HMAC-SHA256(round secret, policyId ‖ node key ‖ lease index). A node cannot predict it. Once the secret
 * is published, anyone can check that the coordinator did not choose the seed.
 */
export function leaseSeed(secret: Uint8Array, policyId: string, node: string, index: number): Buffer {
  return createHmac('sha256', secret)
    .update(JSON.stringify(['prove/lease/1', policyId, node, index]))
    .digest()
}
