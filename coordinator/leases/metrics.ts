import { Counter } from 'prom-client'
import type { RefusalCode } from '../../proto/index.js'
import type { Metrics } from '../../swarm/index.js'

/** Counts answers to requests for leases. @returns  a function to call with the reason for an answer without a lease, or null */
export function meterAnswers(registers: Metrics): (reason: RefusalCode | null) => void {
  const answers = new Counter({
    name: 'prove_lease_answers_total',
    help: 'Answers to requests for leases; the reason is empty where a lease was given',
    labelNames: ['reason'],
    registers: [registers],
  })
  return (reason) => answers.inc({ reason: reason ?? '' })
}
