import type { Attack } from '../attack.js'

export const dodgedAudits: Attack = {
  name: 'dodged-audits',
  about: 'names a backend without a calibration',
  provable: true,
  places: ['leases'],
  async attempt(arena, _, signal) {
    const node = await arena.recruit()
    try {
      const { policyId } = await arena.policies.newest(signal)
      const before = arena.cpuMs()
      const { leases, reason } = await node.ask(policyId, { backend: 'tpu' })
      const costMs = arena.cpuMs() - before
      const caught = leases.length === 0 && reason === 'uncalibrated'
      return { caught, place: caught ? 'leases' : null, code: reason, costMs, detail: '' }
    } finally {
      await node.close()
    }
  },
}
