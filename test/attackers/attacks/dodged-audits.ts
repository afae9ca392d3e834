import type { Attack } from '../attack.js'

/** What a node may say of its engine to be judged more leniently, and how it is answered in a run that audits. */
const EXCUSES = [
  { change: { drawsReplay: false }, reason: 'draws_differ' },
  { change: { backend: 'tpu' }, reason: 'uncalibrated' },
] as const

export const dodgedAudits: Attack = {
  name: 'dodged-audits',
  about: 'says that its draws cannot be replayed, or names a backend that audits have no measure for',
  provable: true,
  places: ['leases'],
  async attempt(arena, _, signal) {
    const node = await arena.recruit()
    try {
      const { policyId } = await arena.policies.newest(signal)
      const before = arena.cpuMs()
      const answers = []
      for (const { change } of EXCUSES) answers.push(await node.ask(policyId, change))
      const costMs = arena.cpuMs() - before
      const reasons = answers.map(({ reason }) => reason)
      const caught =
        answers.every(({ leases }) => leases.length === 0) && EXCUSES.every(({ reason }, k) => reason === reasons[k])
      return { caught, place: caught ? 'leases' : null, code: reasons.join(' '), costMs, detail: '' }
    } finally {
      await node.close()
    }
  },
}
