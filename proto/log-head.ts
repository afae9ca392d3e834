import type { PrivateKey } from '@libp2p/interface'
import { bytesOf, hexOf, integer, present, timeMs } from './bounds.js'
import { type Codec, codec, type Decoded } from './codec.js'
import type { Sha256 } from './content-id.js'
import { openEnvelope, sealEnvelope } from './envelope.js'
import { prove } from './gen/swarm.js'
import { bytes, double, message, number, type WireShape } from './wire-shape.js'

/**
 * The end of a coordinator's log at one time. Two signed heads that contradict each other prove that the coordinator has shown two
 * histories of the run.
 */
export interface LogHead {
  /** Number of events. */
  readonly events: number
  /** Hash of the newest event. It covers all events before it. */
  readonly logHash: Sha256
  /** Training step for which groups are being accepted. */
  readonly step: number
  /** Number of verdicts on groups for this step so far. */
  readonly verdicts: number
  /** Merkle root over these verdicts. */
  readonly verdictsRoot: Sha256
}

/** A head with the time at which the coordinator signed it. */
export interface IssuedHead {
  readonly head: LogHead
  readonly issuedAtMs: number
  /** Whether the log had this end earlier, and not when the head was signed. */
  readonly isPast: boolean
}

const MOST = 2 ** 32 - 1

export const LOG_HEAD_SHAPE: WireShape = { 1: number(), 2: bytes(), 3: number(), 4: number(), 5: bytes() }

export const readLogHead = (wire: Decoded<prove.LogHead.$Properties>): LogHead => ({
  events: integer(wire.events, 0, MOST, 'number of events'),
  logHash: hexOf(wire.logHash, 32, 'hash of the log'),
  step: integer(wire.step, 0, MOST, 'step'),
  verdicts: integer(wire.verdicts, 0, MOST, 'number of verdicts'),
  verdictsRoot: hexOf(wire.verdictsRoot, 32, 'root of the verdicts'),
})

export const writeLogHead = ({ logHash, verdictsRoot, ...counts }: LogHead): prove.LogHead.$Properties => ({
  ...counts,
  logHash: bytesOf(logHash),
  verdictsRoot: bytesOf(verdictsRoot),
})

export const issuedHead: Codec<IssuedHead> = codec<IssuedHead, prove.IssuedHead.$Properties>({
  what: 'head of the log',
  limit: 'headBytes',
  type: prove.IssuedHead,
  shape: { 1: message(LOG_HEAD_SHAPE), 2: double(), 3: number() },
  read: ({ head, issuedAtMs, past }) => ({
    head: readLogHead(present(head, 'head of the log')),
    issuedAtMs: timeMs(issuedAtMs, 'time of issue'),
    isPast: past,
  }),
  write: ({ head, issuedAtMs, isPast }) => ({ head: writeLogHead(head), issuedAtMs, past: isPast }),
})

export const sealHead = (key: PrivateKey, runId: string, head: IssuedHead): Promise<Uint8Array> =>
  sealEnvelope(key, 'headBytes', { kind: 'log-head', runId, payload: issuedHead.encode(head) })

/** Opens a head. @throws SwarmRefusal; `wrong_signer` for every key except the coordinator's */
export async function openHead(data: Uint8Array, runId: string): Promise<IssuedHead> {
  const { payload } = await openEnvelope(data, 'headBytes', { kind: 'log-head', runId, signer: runId })
  return issuedHead.parse(payload)
}

/** Explains why two signed heads of one run cannot belong to the same history; null: they can. */
export function contradiction(a: LogHead, b: LogHead): string | null {
  if (a.events === b.events && a.logHash !== b.logHash) return `event ${a.events} has two hashes`
  if (a.step === b.step && a.verdicts === b.verdicts && a.verdictsRoot !== b.verdictsRoot)
    return `the first ${a.verdicts} verdicts for step ${a.step} are not the same`
  return null
}
