import { Counter } from 'prom-client'
import type { RefusalCode } from '../../proto/index.js'
import type { Metrics } from '../../swarm/index.js'

/** Counts answers to requests for leases. @returns  to be called with the reason for none, or null */
export function meterAnswers(registers: Metrics): (reason: RefusalCode | null) => void {
  const answers = new Counter({
    name: 'prove_lease_answers_total',
    help: 'Answers to requests for leases; the reason is empty where one was given',
    labelNames: ['reason'],
    registers: [registers],
  })
  return (reason) => answers.inc({ reason: reason ?? '' })
}
