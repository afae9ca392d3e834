import type { Attack } from '../attack.js'
import { packGroup, type Work } from '../group-work.js'
import { earnTrust } from '../honest-crowd.js'
import type { Participant } from '../participant.js'
import { scriptedGroup } from '../scripted-group.js'

const KEYS = 3
const LEASES = 6

/** Groups without inference replay, so that only an audit finds them out: each costs its key next to nothing. */
async function handOverAll(works: readonly Work[], make: (work: Work) => ReturnType<typeof packGroup>): Promise<void> {
  for (const work of works) await work.node.offer((await make(work)).sealed)
}

export const auditFlood: Attack = {
  name: 'audit-flood',
  about: 'delivers invented groups of several new keys at once, to delay the audits of others',
  provable: true,
  places: ['5'],
  async attempt(arena, _, signal) {
    const veteran = await arena.recruit()
    const nodes: Participant[] = []
    try {
      await earnTrust(arena, veteran, signal)
      const honest = await arena.honest.group(signal, veteran)
      const works: Work[] = []
      for (let key = 0; key < KEYS; key++) {
        const node = await arena.recruit()
        nodes.push(node)
        works.push(...(await arena.work(node, LEASES, signal)))
      }
      const before = arena.cpuMs()
      await handOverAll(works, async (work) => packGroup(work, await scriptedGroup(arena, work, signal)))
      const { accepted, code } = await arena.honest.deliver(honest)
      const judged = (): number => works.filter(({ lease }) => arena.state().judged.has(lease.leaseId)).length
      const overtaken = judged()
      for (const node of nodes) await node.giveBack(works.flatMap((work) => (work.node === node ? work.lease : [])))
      const wrong = works.filter(({ lease }) => arena.state().judged.get(lease.leaseId)?.accepted).length
      const caught = accepted && wrong === 0 && overtaken < works.length
      return {
        caught,
        place: caught ? '5' : null,
        code,
        costMs: (arena.cpuMs() - before) / works.length,
        detail: `${overtaken} of ${works.length} written groups were verified before the honest one, ${wrong} were accepted`,
      }
    } finally {
      for (const node of [veteran, ...nodes]) await node.close()
    }
  },
}
