import { Histogram } from 'prom-client'
import { CHECKS, type CheckWatch } from '../../rollout/verification/index.js'
import type { Metrics } from '../../swarm/index.js'

/** Seconds from a look-up in memory to a forward pass over a long group. */
const SECONDS = [0.0001, 0.001, 0.01, 0.1, 1, 10, 100]

/** Measures the verification checks. */
export function meterChecks(registers: Metrics): CheckWatch {
  const seconds = new Histogram({
    name: 'prove_check_seconds',
    help: 'Time that a verification check took for a group, by outcome',
    labelNames: ['check', 'outcome'],
    buckets: SECONDS,
    registers: [registers],
  })
  const names = CHECKS.map(({ number, name }) => `${number} ${name}`)
  return {
    now: () => performance.now(),
    onCheck: (number, outcome, ms) => seconds.observe({ check: names[number]!, outcome }, ms / 1000),
  }
}
