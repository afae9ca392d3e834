import { BATCH_GROUPS, PER_KEY } from '../arena-run.js'
import type { Attack } from '../attack.js'
import { AT_WORK } from '../honest-crowd.js'
import { openParticipant } from '../participant.js'

export const sybilKeys: Attack = {
  name: 'sybil-keys',
  about: 'makes keys to ask for tasks at once, and fills a batch with the groups of one of them',
  provable: true,
  places: ['leases', 'batches'],
  async attempt(arena, _, signal) {
    const node = await arena.recruit()
    const fresh = await openParticipant(arena.run, await arena.newKey())
    const before = arena.cpuMs()
    try {
      const { policyId } = await arena.policies.newest(signal)
      const { leases, reason } = await fresh.ask(policyId, { count: 8 })
      // Honest volunteers that deliver, one of them at work: where nobody else supplies anything, one key may fill a batch.
      for (let turn = 0; turn < AT_WORK; turn++) await arena.honest.deliver(await arena.honest.group(signal))
      let held = await arena.honest.group(signal)
      // Of one that is known to deliver: a batch waits for no other.
      while (!arena.state().reliable.has(held.work.node.peerId)) {
        await arena.honest.deliver(held)
        held = await arena.honest.group(signal)
      }
      const first = arena.state().batches.size
      for (let k = 0; k <= BATCH_GROUPS * PER_KEY; k++)
        await arena.honest.deliver(await arena.honest.group(signal, node))
      await arena.honest.deliver(held)
      while (arena.state().batches.size === first) await arena.honest.deliver(await arena.honest.group(signal))
      const { judged, batches } = arena.state()
      const shares = [...batches.values()].map(
        ({ leaseIds }) =>
          leaseIds.filter((leaseId) => judged.get(leaseId)!.node === node.peerId).length / leaseIds.length,
      )
      const share = Math.max(...shares)
      const caught = leases.length === 0 && reason === 'not_registered' && share <= PER_KEY
      return {
        caught,
        place: caught ? 'batches' : null,
        code: reason,
        costMs: arena.cpuMs() - before,
        detail: `${leases.length} leases for a key of this moment, ${100 * share} % of a batch`,
      }
    } finally {
      await fresh.close()
      await node.close()
    }
  },
}
