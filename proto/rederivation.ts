import type { PrivateKey } from '@libp2p/interface'
import { bytesOf, finite, hexOf, identifier, integer, timeMs } from './bounds.js'
import { type Codec, codec } from './codec.js'
import type { Sha256 } from './content-id.js'
import { openEnvelope, sealEnvelope } from './envelope.js'
import { prove } from './gen/swarm.js'
import { MAX_ROUND } from './manifest.js'
import { bytes, double, number } from './wire-shape.js'

/** A statement about a published step by the key that has made the step again. */
export interface RederivationStatement {
  readonly version: number
  /** Manifest whose files were checked. */
  readonly manifestId: Sha256
  /** Name of the check that failed; null: the step follows from its evidence. */
  readonly fault: string | null
  /** Difference of both results, as a share of the norm of the update; null: not computed. */
  readonly difference: number | null
  readonly madeAtMs: number
}

export const rederivation: Codec<RederivationStatement> = codec<RederivationStatement, prove.Rederivation.$Properties>({
  what: 'result of a re-derivation',
  limit: 'headBytes',
  type: prove.Rederivation,
  shape: { 1: number(), 2: bytes(), 3: bytes(), 4: double(), 5: double(), 6: number() },
  read: (wire) => ({
    version: integer(wire.version, 1, MAX_ROUND, 'version'),
    manifestId: hexOf(wire.manifestId, 32, 'manifest id'),
    fault: wire.fault === '' ? null : identifier(wire.fault, 'shortNameBytes', 'check'),
    difference: wire.isCompared ? finite(wire.difference, 0, Number.MAX_VALUE, 'difference') : null,
    madeAtMs: timeMs(wire.madeAtMs, 'time of the re-derivation'),
  }),
  write: ({ manifestId, fault, difference, ...rest }) => ({
    ...rest,
    manifestId: bytesOf(manifestId),
    fault: fault ?? '',
    difference: difference ?? 0,
    isCompared: difference !== null,
  }),
})

/** Signs the result of a re-derivation. @param key  of the peer that made the step again */
export const sealRederivation = (key: PrivateKey, runId: string, made: RederivationStatement): Promise<Uint8Array> =>
  sealEnvelope(key, 'headBytes', { kind: 'rederivation', runId, payload: rederivation.encode(made) })

/** Opens a signed result. @throws SwarmRefusal */
export async function openRederivation(
  data: Uint8Array,
  runId: string,
): Promise<RederivationStatement & { readonly signer: string }> {
  const { payload, signer } = await openEnvelope(data, 'headBytes', { kind: 'rederivation', runId })
  return { ...rederivation.parse(payload), signer }
}
