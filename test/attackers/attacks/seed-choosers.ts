import type { Attack } from '../attack.js'

const ASKED = 8

export const seedChoosers: Attack = {
  name: 'seed-choosers',
  about: 'keeps the best of eight leases, abandons the others, and repeats this with the next version',
  provable: true,
  places: ['leases'],
  async attempt(arena, _, signal) {
    const node = await arena.recruit()
    try {
      const first = await arena.work(node, ASKED, signal)
      await node.giveBack(first.slice(1).map(({ lease }) => lease))
      const { version } = arena.state().current!
      while (arena.state().current!.version === version) await arena.honest.deliver(await arena.honest.group(signal))
      const before = arena.cpuMs()
      const { policyId } = await arena.policies.newest(signal)
      const { leases } = await node.ask(policyId, { count: ASKED })
      const { reliability, debt } = {
        reliability: arena.state().reliabilityOf(node.peerId),
        debt: arena.state().debtOf(node.peerId),
      }
      await node.giveBack([first[0]!.lease, ...leases])
      const caught = leases.length <= ASKED - first.length && reliability < 1
      return {
        caught,
        place: caught ? 'leases' : null,
        code: null,
        costMs: arena.cpuMs() - before,
        detail: `${first.length} leases drawn, ${debt} still owed, ${leases.length} new ones, reliability ${reliability.toFixed(2)}`,
      }
    } finally {
      await node.close()
    }
  },
}
