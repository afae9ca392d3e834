import { sealPolicyAnnouncement, sealVerdictDigest, topicsOf } from '../../../proto/index.js'
import { channelsOf } from '../../../swarm/index.js'
import { happens } from '../network-attack.js'
import { unchecked } from '../raw-requests.js'
import { runsARealPolicy, updateCode, volunteerAttack } from '../victim.js'

export const posingAsCoordinator = volunteerAttack({
  name: 'posing-as-coordinator',
  about: 'serves manifests, and gossips announcements and verdicts, with its own signature',
  run: 'arena',
  async carryOut(scene, _, signal) {
    const { attacker, victim, runId, arena } = scene
    const envelope = await scene.forge((manifest) => ({ ...manifest, version: manifest.version + 1000 }))
    scene.answer = async (want) => (want.kind === 'chunk' ? 'not found' : envelope)
    const code = await updateCode(scene, signal)
    const believed: string[] = []
    const channels = channelsOf(runId)
    victim.host.gossip.join(channels.policy, { deliver: (_value, from) => believed.push(from) })
    victim.host.gossip.join(channels.verdicts, { deliver: (_value, from) => believed.push(from) })
    const { sealed } = await arena.policies.newest(signal)
    const { manifestId, manifest } = sealed
    const announcement = await sealPolicyAnnouncement(attacker.key, runId, {
      manifestId,
      manifestSizeBytes: 1000,
      round: manifest.round + 1000,
      version: manifest.version + 1000,
      policyId: manifest.policyId,
      expiresAtMs: manifest.expiresAtMs,
      capacity: 1000,
      waiting: 0,
      providers: [],
      shards: 1,
    })
    const verdicts = await sealVerdictDigest(attacker.key, runId, {
      peerId: victim.host.peerId,
      fromCursor: 0,
      verdicts: [],
      totalCredit: 1e6,
      issuedAtMs: 0,
    })
    const topics = topicsOf(runId)
    const signers = (): number =>
      victim.refusals.filter(({ peer, code: why }) => peer === attacker.host.peerId && why === 'wrong_signer').length
    for (const [topic, message] of [
      [topics.policy, announcement],
      [topics.verdicts, verdicts],
    ] as const) {
      const channel = unchecked(topic)
      await happens(() => attacker.host.gossip.listeners(channel).includes(victim.host.peerId), signal)
      await attacker.host.gossip.publish(channel, message)
    }
    const refused = await happens(() => signers() === 3, signal)
    return [
      ...(code === null ? [] : [`the real policy was not loaded: ${code}`]),
      ...(runsARealPolicy(scene) ? [] : ['another policy was loaded']),
      ...(believed.includes(attacker.host.peerId) ? ['its gossip was believed'] : []),
      ...(refused ? [] : [`${signers()} of 3 messages were refused`]),
    ]
  },
})
