import { LIMITS, PROTOCOLS, type ProtocolName, topicsOf } from '../../../proto/index.js'
import { happens, networkAttack, refusalsOf } from '../network-attack.js'
import { framed, REQUEST_BYTES, sendRaw, unchecked } from '../raw-requests.js'

const NAMES = Object.keys(PROTOCOLS) as ProtocolName[]

export const oversize = networkAttack({
  name: 'oversize',
  about: 'sends one byte more than each protocol and topic allows',
  messages: NAMES.length + 1,
  async carryOut(arena, node, _, signal) {
    const from = arena.run.coordinator.lines.length
    const missed: string[] = []
    for (const name of NAMES) {
      const answer = await sendRaw(node, name, framed(new Uint8Array(REQUEST_BYTES[name] + 1)))
      if (answer === 'answered') missed.push(`${name} was answered`)
    }
    const channel = unchecked(topicsOf(arena.run.runId).groups)
    if (!(await happens(() => node.host.gossip.listeners(channel).length > 0, signal))) missed.push('nobody listens')
    await node.host.gossip.publish(channel, new Uint8Array(LIMITS.announcementBytes.value + 1))
    const counted = (): number => refusalsOf(arena, node.peerId, from).filter((code) => code === 'too_large').length
    if (!(await happens(() => counted() > NAMES.length, signal))) missed.push(`${counted()} too large`)
    return missed
  },
})
