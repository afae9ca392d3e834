import { createHash, createHmac, randomBytes } from 'node:crypto'

/** A round's secret, 32 bytes. Its hash is published when the round opens, the secret itself when it is over. */
export const newRoundSecret = (): Buffer => randomBytes(32)

export const roundSecretHash = (secret: Uint8Array): string => createHash('sha256').update(secret).digest('hex')

/**
 * The seed of a lease: HMAC-SHA256(round secret, policyId ‖ node key ‖ lease index). The node cannot foresee it, and once
 * the secret is out anyone can check that the coordinator did not choose it.
 */
export function leaseSeed(secret: Uint8Array, policyId: string, node: string, index: number): Buffer {
  return createHmac('sha256', secret)
    .update(JSON.stringify(['prove/lease/1', policyId, node, index]))
    .digest()
}
