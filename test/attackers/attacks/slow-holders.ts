import type { Attack } from '../attack.js'
import type { Participant } from '../participant.js'

/** Together enough leases for the whole capacity of the run. */
const KEYS = 3
const ASKED = 8

export const slowHolders: Attack = {
  name: 'slow-holders',
  about: 'delivers one group, so that its key counts as proven, and then keeps eight leases without work',
  provable: true,
  places: ['leases'],
  async attempt(arena, _, signal) {
    const volunteer = await arena.recruit()
    const holders: Participant[] = []
    try {
      await arena.honest.deliver(await arena.honest.group(signal, volunteer))
      for (let key = 0; key < KEYS; key++) {
        const node = await arena.recruit()
        holders.push(node)
        await arena.honest.deliver(await arena.honest.group(signal, node))
        const works = await arena.work(node, ASKED, signal)
        await node.giveBack(works.map(({ lease }) => lease))
        // If a version came meanwhile, the leases that it gave back take all of its places.
        const { policyId } = await arena.policies.newest(signal)
        await node.ask(policyId, { count: ASKED })
      }
      const before = arena.cpuMs()
      const held = holders.reduce((sum, { peerId }) => sum + arena.state().openLeasesOf(peerId).size, 0)
      const group = await arena.honest.deliver(await arena.honest.group(signal, volunteer))
      return {
        caught: group.accepted,
        place: group.accepted ? 'leases' : null,
        code: null,
        costMs: arena.cpuMs() - before,
        detail: `${held} leases held by proven keys while an honest volunteer works on`,
      }
    } finally {
      for (const node of holders) {
        const leaseIds = [...arena.state().openLeasesOf(node.peerId).keys()]
        if (leaseIds.length > 0) await node.giveBack(leaseIds.map((leaseId) => ({ leaseId })))
        await node.close()
      }
      await volunteer.close()
    }
  },
}
