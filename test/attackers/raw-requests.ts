import type { Stream } from '@libp2p/interface'
import { encodeFrame, LIMITS, PROTOCOLS, type ProtocolName, reply } from '../../proto/index.js'
import { createByteStream } from '../../swarm/byte-stream.js'
import { type Channel, systemClock } from '../../swarm/index.js'
import { PATIENCE_MS } from '../support/patience.js'
import { soon } from '../support/swarm-nodes.js'
import type { Participant } from './participant.js'

/** Largest request of each protocol, in bytes. */
export const REQUEST_BYTES: Readonly<Record<ProtocolName, number>> = {
  lease: LIMITS.leaseRequestBytes.value,
  group: LIMITS.announcementBytes.value + LIMITS.requestOverheadBytes.value,
  verdict: LIMITS.verdictRequestBytes.value,
  snapshot: LIMITS.snapshotRequestBytes.value,
  leaderboard: LIMITS.leaderboardRequestBytes.value,
}

export const openRaw = (node: Participant, protocol: ProtocolName): Promise<Stream> =>
  node.host.openStream(node.host.runId, PROTOCOLS[protocol], { signal: soon() })

/**
 * Sends bytes as they are and tells what came back.
 * @returns  the code of a refusal, `answered` when they were taken for a request, `closed` when the stream was cut
 */
export async function sendRaw(node: Participant, protocol: ProtocolName, bytes: Uint8Array): Promise<string> {
  const stream = await openRaw(node, protocol)
  const reader = createByteStream(stream, systemClock, PATIENCE_MS)
  try {
    stream.send(bytes)
    const frame = await reader.readFrame(LIMITS.leaseResponseBytes.value + 1024, soon())
    if (protocol === 'snapshot') return 'answered'
    const answer = reply('leaseResponseBytes').parse(frame)
    return answer.ok ? 'answered' : answer.code
  } catch {
    return 'closed'
  } finally {
    reader.abort(new Error('enough'))
  }
}

export const framed = (content: Uint8Array): Uint8Array => encodeFrame(content)

/** A topic without the checks that an honest sender makes. */
export const unchecked = (topic: string): Channel<unknown> => ({
  topic,
  maxBytes: Number.MAX_SAFE_INTEGER,
  parse: async (data) => data,
})
