import type { Lease } from '../../../proto/index.js'
import type { Attack } from '../attack.js'
import type { Participant } from '../participant.js'

const KEYS = 3
const ASKED = 8

export const leaseHoarding: Attack = {
  name: 'lease-hoarding',
  about: 'takes all leases that three keys can get, and delivers nothing',
  provable: true,
  places: ['leases'],
  async attempt(arena, _, signal) {
    // A key that has delivered. A newcomer from the same block of addresses would share the places of the hoarders.
    const volunteer = await arena.recruit()
    const hoards: { readonly node: Participant; readonly leases: readonly Lease[] }[] = []
    try {
      await arena.honest.deliver(await arena.honest.group(signal, volunteer))
      const before = arena.cpuMs()
      for (let k = 0; k < KEYS; k++) {
        const node = await arena.recruit()
        const { policyId } = await arena.policies.newest(signal)
        hoards.push({ node, leases: (await node.ask(policyId, { count: ASKED })).leases })
      }
      const group = await arena.honest.deliver(await arena.honest.group(signal, volunteer))
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
      await volunteer.close()
    }
  },
}
