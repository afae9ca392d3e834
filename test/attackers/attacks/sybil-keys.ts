import { BATCH_GROUPS, PER_KEY } from '../arena-run.js'
import type { Attack } from '../attack.js'
import type { HonestGroup } from '../honest-crowd.js'
import { openParticipant, type Participant } from '../participant.js'

export const sybilKeys: Attack = {
  name: 'sybil-keys',
  about: 'creates keys to get leases at once, and fills a batch with the groups of one key',
  provable: true,
  places: ['leases', 'batches'],
  async attempt(arena, _, signal) {
    const node = await arena.recruit()
    const fresh = await openParticipant(arena.run, await arena.newKey())
    const others: Participant[] = []
    const before = arena.cpuMs()
    try {
      while (others.length < BATCH_GROUPS * (1 - PER_KEY)) others.push(await arena.recruit())
      const { policyId } = await arena.policies.newest(signal)
      const { leases, reason } = await fresh.ask(policyId, { count: 8 })
      // Enough honest keys at work to fill the rest of a batch, known to deliver: it waits for them, and for nobody else.
      for (const other of others) await arena.honest.deliver(await arena.honest.group(signal, other))
      const held: HonestGroup[] = []
      for (const other of others) held.push(await arena.honest.group(signal, other))
      // The state forgets old batches, so new ones are recognised by their names.
      const earlier = new Set(arena.state().batches.keys())
      const later = () => [...arena.state().batches].filter(([name]) => !earlier.has(name))
      for (let k = 0; k <= BATCH_GROUPS * PER_KEY; k++)
        await arena.honest.deliver(await arena.honest.group(signal, node))
      for (const group of held) await arena.honest.deliver(group)
      while (later().length === 0) await arena.honest.deliver(await arena.honest.group(signal))
      const { judged } = arena.state()
      const shares = later().map(
        ([, { leaseIds }]) =>
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
      for (const other of others) await other.close()
      await fresh.close()
      await node.close()
    }
  },
}
