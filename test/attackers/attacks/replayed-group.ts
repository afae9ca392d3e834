import type { Attack } from '../attack.js'
import { checkOf } from '../attack.js'
import { ENOUGH_TOKENS } from '../group-attack.js'
import { packGroup } from '../group-work.js'

const CODES: readonly (string | null)[] = ['duplicate', 'sampler_mismatch', 'logprob_mismatch', 'prompt_mismatch']
const LEASES = 8

export const replayedGroup: Attack = {
  name: 'replayed-group',
  about: 'delivers its own accepted group again, also for another lease',
  provable: true,
  places: ['2', '4', '5', '6'],
  async attempt(arena, _, signal) {
    const node = await arena.recruit()
    try {
      const own = await arena.honest.group(signal, node, ENOUGH_TOKENS)
      const { work, rollouts, packed } = own
      const first = await arena.honest.deliver(own)
      const credit = (): number => arena.state().nodes.get(node.peerId)?.credit ?? 0
      const verdicts = (): number => arena.state().nodes.get(node.peerId)?.verdicts.length ?? 0
      const [earned, judged] = [credit(), verdicts()]
      const before = arena.cpuMs()
      // Receipts, because a node that lost one must be able to ask again; but no second verdict.
      await node.offer(packed.sealed)
      await node.offer((await packGroup(work, rollouts)).sealed)
      const leases = await arena.work(node, LEASES, signal)
      const other = leases.find(({ task }) => task.id === work.task.id) ?? leases[0]!
      const { accepted, code, detail } = await arena.handOver(other, await packGroup(other, rollouts))
      const costMs = arena.cpuMs() - before
      await node.giveBack(leases.filter((lease) => lease !== other).map(({ lease }) => lease))
      const caught =
        first.accepted && !accepted && CODES.includes(code) && credit() === earned && verdicts() === judged + 1
      return { caught, place: code === null ? null : checkOf(code), code, costMs, detail }
    } finally {
      await node.close()
    }
  },
}
