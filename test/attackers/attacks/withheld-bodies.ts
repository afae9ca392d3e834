import { randomBytes } from 'node:crypto'
import type { Arena } from '../arena.js'
import type { Attack } from '../attack.js'
import { packGroup, type Work } from '../group-work.js'
import type { Participant } from '../participant.js'
import { scriptedGroup } from '../scripted-group.js'

/** Together as many announcements as the coordinator pulls bodies at once. */
const KEYS = 2
const LEASES = 8

async function announceNothing(arena: Arena, node: Participant, signal: AbortSignal): Promise<Work[]> {
  node.stalling = true
  const works = await arena.work(node, LEASES, signal)
  const rollouts = await scriptedGroup(arena, works[0]!, signal)
  for (const work of works) {
    const announce = { bodySha256: randomBytes(32).toString('hex'), rewards: rollouts.map((_, i) => i) }
    const { sealed } = await packGroup(work, rollouts, { inline: false, announce: (own) => ({ ...own, ...announce }) })
    await node.offer(sealed)
  }
  return works
}

export const withheldBodies: Attack = {
  name: 'withheld-bodies',
  about: 'announces groups with several keys and never sends their bodies',
  provable: true,
  places: ['transport'],
  async attempt(arena, _, signal) {
    const { work, rollouts } = await arena.honest.group(signal)
    // Without its body: the group has to wait for a pull like the others.
    const packed = await packGroup(work, rollouts, { inline: false })
    const nodes: Participant[] = []
    try {
      for (let key = 0; key < KEYS; key++) nodes.push(await arena.recruit())
      const before = arena.cpuMs()
      const works = []
      for (const node of nodes) works.push(...(await announceNothing(arena, node, signal)))
      const { accepted, code } = await arena.honest.deliver({ work, rollouts, packed })
      const costMs = arena.cpuMs() - before
      const judged = works.filter(({ lease }) => arena.state().judged.has(lease.leaseId)).length
      for (const node of nodes) await node.giveBack(works.flatMap((one) => (one.node === node ? one.lease : [])))
      const caught = accepted && judged === 0
      return {
        caught,
        place: caught ? 'transport' : null,
        code,
        costMs,
        detail: `${works.length} bodies withheld, ${judged} verdicts on them`,
      }
    } finally {
      for (const node of nodes) await node.close()
    }
  },
}
