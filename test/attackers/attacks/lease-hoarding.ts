import type { Lease } from '../../../proto/index.js'
import type { Attack } from '../attack.js'
import { AT_WORK } from '../honest-crowd.js'
import type { Participant } from '../participant.js'

const KEYS = 3
const ASKED = 8

export const leaseHoarding: Attack = {
  name: 'lease-hoarding',
  about: 'takes as many leases as three keys can get and works on none, so that nobody else gets one',
  provable: true,
  places: ['leases'],
  async attempt(arena, _, signal) {
    for (let turn = 0; turn < AT_WORK; turn++) await arena.honest.deliver(await arena.honest.group(signal))
    const before = arena.cpuMs()
    const hoards: { readonly node: Participant; readonly leases: readonly Lease[] }[] = []
    try {
      for (let k = 0; k < KEYS; k++) {
        const node = await arena.recruit()
        const { policyId } = await arena.policies.newest(signal)
        hoards.push({ node, leases: (await node.ask(policyId, { count: ASKED })).leases })
      }
      await arena.honest.ask(signal)
      const group = await arena.honest.deliver(await arena.honest.group(signal))
      return {
        caught: group.accepted,
        place: group.accepted ? 'leases' : null,
        code: null,
        costMs: arena.cpuMs() - before,
        detail: `${hoards.flatMap(({ leases }) => leases).length} leases held while an honest volunteer works on`,
      }
    } finally {
      for (const { node, leases } of hoards) {
        if (leases.length > 0) await node.giveBack(leases)
        await node.close()
      }
    }
  },
}
