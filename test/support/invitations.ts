import type { Invitation } from '../../proto/index.js'
import { hash, keyOf } from './proto-samples.js'

/** Contents of an invitation to the sample run. */
export const flightInvitation: Omit<Invitation, 'runId'> = {
  addresses: ['/dns4/flights.example.org/tcp/4001', '/ip4/203.0.113.5/tcp/4001'],
  base: {
    name: 'flight-clerk-0.1B',
    sha256: hash('base'),
    sizeBytes: 210_000_000,
    chunkListSha256: hash('chunk list'),
    sources: ['https://huggingface.co/flights/clerk/resolve/0f3a/clerk-f16.gguf'],
  },
  operator: 'Ada Lovelace, ada@example.org',
  purpose: 'A small model that books flights, for everybody.',
}

/**
 * Returns the frame of an invitation as docs/reference/protocol.md describes it, without the code under test: any version, any content.
 * @param key  seed of the signing key
 */
export async function frameOf(version: number, content: Uint8Array, key = 1): Promise<Uint8Array> {
  const signer = await keyOf(key)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(content.length)
  const head = Buffer.concat([Buffer.from([version]), length, signer.publicKey.raw])
  const signature = await signer.sign(Buffer.concat([Buffer.from('prove/invitation/1'), head, content]))
  return Buffer.concat([head, signature, content])
}

export const textOf = (frame: Uint8Array): string => `prove${frame[0]}-${Buffer.from(frame).toString('base64url')}`
