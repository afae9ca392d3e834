import type { PrivateKey } from '@libp2p/interface'
import { integer, sentence, timeMs } from './bounds.js'
import { type Codec, codec } from './codec.js'
import { openEnvelope, sealEnvelope } from './envelope.js'
import { refusal } from './errors.js'
import { prove } from './gen/swarm.js'
import { ADDRESSES, readAddresses } from './peer-addresses.js'
import { bytes, double, number } from './wire-shape.js'

/** The current addresses of a run's coordinator, and a message of its operator. Signed by the run's key; any peer may pass it on. */
export interface AddressNotice {
  /** The notice with the highest number is in force. */
  readonly number: number
  /** libp2p addresses, without the peer id at the end. */
  readonly addresses: readonly string[]
  readonly issuedAtMs: number
  readonly expiresAtMs: number
  /** Message to volunteers; empty: none. */
  readonly message: string
}

const MOST = 2 ** 32 - 1

export const addressNotice: Codec<AddressNotice> = codec<AddressNotice, prove.AddressNotice.$Properties>({
  what: 'address notice',
  limit: 'addressNoticeBytes',
  type: prove.AddressNotice,
  shape: { 1: number(), 2: ADDRESSES, 3: double(), 4: double(), 5: bytes() },
  read: (wire) => {
    if (wire.addresses.length === 0) throw refusal('malformed', 'a notice without addresses')
    return {
      number: integer(wire.number, 1, MOST, 'number of the notice'),
      addresses: readAddresses(wire.addresses, 'address of the coordinator'),
      issuedAtMs: timeMs(wire.issuedAtMs, 'time of issue'),
      expiresAtMs: timeMs(wire.expiresAtMs, 'expiry'),
      message: sentence(wire.message, 'noticeMessageBytes', 'message of the operator'),
    }
  },
  write: (notice) => ({ ...notice, addresses: [...notice.addresses] }),
})

export const sealAddressNotice = (key: PrivateKey, runId: string, notice: AddressNotice): Promise<Uint8Array> =>
  sealEnvelope(key, 'addressNoticeBytes', { kind: 'address-notice', runId, payload: addressNotice.encode(notice) })

/**
 * Opens a notice.
 * @param nowMs  a notice that has expired by then is refused
 * @throws SwarmRefusal; `wrong_signer` for every key except the coordinator's
 */
export async function openAddressNotice(data: Uint8Array, runId: string, nowMs: number): Promise<AddressNotice> {
  const expected = { kind: 'address-notice', runId, signer: runId } as const
  const { payload } = await openEnvelope(data, 'addressNoticeBytes', expected)
  const notice = addressNotice.parse(payload)
  if (notice.expiresAtMs <= nowMs) throw refusal('expired', `notice ${notice.number}`)
  return notice
}
