import { randomBytes } from 'node:crypto'
import { sealGroupAnnouncement, sha256, topicsOf } from '../../../proto/index.js'
import { happens, networkAttack, refusalsOf } from '../network-attack.js'
import { unchecked } from '../raw-requests.js'

/** Announcements with bodies, and requests: several minutes' worth of what one key may send. */
const ANNOUNCEMENTS = 300
const REQUESTS = 400
const BODY_BYTES = 40_000

export const flood = networkAttack({
  name: 'flood',
  about: 'sends large announcements and requests for leases, as fast as possible',
  withGroup: true,
  messages: ANNOUNCEMENTS + REQUESTS,
  async carryOut(arena, node, _, signal) {
    const from = arena.run.coordinator.lines.length
    const { policyId } = await arena.policies.newest(signal)
    const channel = unchecked(topicsOf(arena.run.runId).groups)
    const listening = await happens(() => node.host.gossip.listeners(channel).length > 0, signal)
    if (!listening) return ['the coordinator does not listen to gossip']
    const gossip = async (): Promise<void> => {
      for (let k = 0; k < ANNOUNCEMENTS; k++) {
        const body = randomBytes(BODY_BYTES)
        const announcement = {
          leaseId: randomBytes(16).toString('hex'),
          taskId: arena.run.tasks[0]!.id,
          policyId,
          rewards: [0, 1],
          bodySha256: sha256(body),
          bodySizeBytes: body.length,
          nonce: randomBytes(16).toString('hex'),
          tokensGenerated: 1,
        }
        const sealed = await sealGroupAnnouncement(node.key, arena.run.runId, announcement, body)
        await node.host.gossip.publish(channel, sealed)
      }
    }
    const answers: string[] = []
    const limited = (): boolean => answers.includes('rate_limited')
    // A slow machine needs more of them before it asks more often than it may.
    const ask = async (): Promise<void> => {
      for (let k = 0; k < REQUESTS / 4 || (!limited() && !signal.aborted); k++) {
        const answer = await node.ask('ab'.repeat(32), { holding: [] }).catch((why: Error) => why)
        answers.push(answer instanceof Error ? ((answer as { refusal?: string }).refusal ?? answer.name) : 'answered')
      }
    }
    await Promise.all([gossip(), ask(), ask(), ask(), ask()])
    const counted = await happens(() => refusalsOf(arena, node.peerId, from).length > 0, signal)
    return [
      ...(limited() ? [] : ['no request was too many']),
      ...(counted ? [] : ['no message was refused']),
      ...(answers.some((answer) => answer === 'internal') ? ['the coordinator failed'] : []),
    ]
  },
})
