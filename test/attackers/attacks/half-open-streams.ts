import type { Stream } from '@libp2p/interface'
import { LIMITS, PROTOCOLS, type ProtocolName } from '../../../proto/index.js'
import { happens, networkAttack } from '../network-attack.js'
import { openRaw } from '../raw-requests.js'

/** Those that are given up after the progress timeout; an idle snapshot stream may stay for a minute. */
const NAMES = (Object.keys(PROTOCOLS) as ProtocolName[]).filter((name) => name !== 'snapshot')
const STREAMS = LIMITS.inboundStreamsPerPeer.value

export const halfOpenStreams = networkAttack({
  name: 'half-open-streams',
  about: 'opens all permitted streams and sends an incomplete message on each',
  messages: NAMES.length * STREAMS,
  async carryOut(_, node, __, signal) {
    const streams: Stream[] = []
    for (const name of NAMES) {
      for (let k = 0; k < STREAMS; k++) {
        const stream = await openRaw(node, name)
        stream.send(new Uint8Array([0, 0]))
        streams.push(stream)
      }
    }
    const dropped = (): number => streams.filter(({ status }) => status !== 'open').length
    const all = await happens(() => dropped() === streams.length, signal)
    return all ? [] : [`${streams.length - dropped()} of ${streams.length} streams are still open`]
  },
})
