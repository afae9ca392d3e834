import { randomBytes } from 'node:crypto'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { groupAnnouncementOf } from '../../node/delivery/group-body.js'
import {
  type GroupAnnouncement,
  groupBody,
  type Lease,
  type LeaseResponse,
  LIMITS,
  sealGroupAnnouncement,
} from '../../proto/index.js'
import { CLOSING } from '../../rollout/episode/index.js'
import { createHost, offerGroup, requestLeases, type SwarmHost, serveGroups } from '../../swarm/index.js'
import { patience } from '../support/patience.js'
import { AMPLE, bodyOf, groundTruthScript, play, runtimeOf } from '../support/scripted.js'
import { TASKS } from '../support/test-run.js'
import type { InForce } from './messages.js'

const runtime = runtimeOf()
/** Time for which a node reports a lease as held, until its verdict should exist. Otherwise the coordinator would assign it again. */
const VERDICT_MS = 5000
/** Number of bodies that a node serves. The coordinator fetches a body soon or never. */
const KEPT_BODIES = 64

export interface SoakGroup {
  readonly announcement: GroupAnnouncement
  readonly body: Uint8Array
}

/** A volunteer that generates groups from a script, with the false claims that the soak requests. */
export interface SoakNode {
  readonly host: SwarmHost
  ask(count?: number): Promise<LeaseResponse>
  make(lease: Lease): Promise<SoakGroup>
  /** Signs and sends a group. @param inline  whether the message contains the body; otherwise the coordinator has to fetch it */
  offer(group: SoakGroup, change?: Partial<GroupAnnouncement>, inline?: boolean): Promise<Uint8Array>
  reoffer(sealed: Uint8Array): Promise<void>
  close(): Promise<void>
}

export const soon = patience

export async function openSoakNode(inForce: () => InForce): Promise<SoakNode> {
  const key = await generateKeyPair('Ed25519')
  const { runId } = inForce()
  const host = await createHost({ privateKey: key, runId, connectionsPerSecond: 1000 })
  const bodies = new Map<string, Uint8Array>()
  const held = new Set<string>()
  await serveGroups(host, { lookup: async (hash) => bodies.get(hash) ?? null })
  try {
    await host.dial(inForce().address, soon())
  } catch (why) {
    await host.close()
    throw why
  }
  return {
    host,
    async ask(count = 1) {
      const response = await requestLeases(
        host,
        runId,
        {
          kind: 'ask',
          count,
          policyId: inForce().policyId,
          nonce: randomBytes(16).toString('hex'),
          holding: [...held].slice(-LIMITS.leasesHeld.value),
          agent: 'soak/1',
          backend: 'cpu',
          tokensPerSecond: 0,
        },
        soon(),
      )
      for (const { leaseId } of response.leases) held.add(leaseId)
      return response
    },
    async make(lease) {
      const task = TASKS.find(({ id }) => id === lease.taskId)!
      // Equal groups would count as copies.
      const words = randomBytes(6).toString('hex')
      const helpful = groundTruthScript(task).map((message) => (message === CLOSING ? `Done, ${words}.` : message))
      const rollouts = [
        await play(task, helpful, runtime, AMPLE),
        await play(task, [`No, ${words}.`, 'No.'], runtime, AMPLE),
      ]
      const { leaseId, policyId } = lease
      const body = groupBody.encode({ ...bodyOf(task, rollouts), leaseId, policyId })
      const announcement = groupAnnouncementOf(lease, rollouts, body)
      bodies.set(announcement.bodySha256, body)
      for (const old of bodies.keys()) if (bodies.size > KEPT_BODIES) bodies.delete(old)
      return { announcement, body }
    },
    async offer({ announcement, body }, change = {}, inline = true) {
      const sealed = await sealGroupAnnouncement(key, runId, { ...announcement, ...change }, inline ? body : null)
      setTimeout(() => held.delete(announcement.leaseId), VERDICT_MS).unref()
      await offerGroup(host, runId, sealed, soon())
      return sealed
    },
    reoffer: (sealed) => offerGroup(host, runId, sealed, soon()),
    close: () => host.close(),
  }
}
