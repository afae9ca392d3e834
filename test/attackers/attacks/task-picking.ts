import type { Attack } from '../attack.js'
import { openParticipant } from '../participant.js'

const ASKED = 3

export const taskPicking: Attack = {
  name: 'task-picking',
  about: 'forgets leases, returns them, or reconnects, to get an easier task',
  provable: true,
  places: ['leases'],
  async attempt(arena, i, signal) {
    const node = await arena.recruit()
    const before = arena.cpuMs()
    const seeds = new Set<string>()
    try {
      const [first] = await arena.work(node, 1, signal)
      seeds.add(first!.lease.seed)
      for (let asked = 0; asked < ASKED; asked++) {
        if (i % 2 === 0) node.holding.clear()
        else await node.giveBack([first!.lease])
        const [next] = await arena.work(node, 1, signal)
        seeds.add(next!.lease.seed)
      }
    } finally {
      await node.close()
    }
    const again = await openParticipant(arena.run, node.key)
    try {
      const [next] = await arena.work(again, 1, signal)
      seeds.add(next!.lease.seed)
      await again.giveBack([next!.lease])
    } finally {
      await again.close()
    }
    const caught = seeds.size === 1
    return {
      caught,
      place: caught ? 'leases' : null,
      code: null,
      costMs: arena.cpuMs() - before,
      detail: `${seeds.size} different leases in ${ASKED + 2} questions`,
    }
  },
}
