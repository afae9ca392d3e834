import { Histogram } from 'prom-client'
import { STAGES, type StageWatch } from '../../rollout/verification/index.js'
import type { Metrics } from '../../swarm/index.js'

/** From a look-up in memory to a forward pass over a long group. */
const SECONDS = [0.0001, 0.001, 0.01, 0.1, 1, 10, 100]

/** Times the stages of judging. */
export function meterStages(registers: Metrics): StageWatch {
  const seconds = new Histogram({
    name: 'prove_stage_seconds',
    help: 'Time that a stage of judging took for a group, by its outcome',
    labelNames: ['stage', 'outcome'],
    buckets: SECONDS,
    registers: [registers],
  })
  const names = STAGES.map(({ number, name }) => `${number} ${name}`)
  return {
    now: () => performance.now(),
    onStage: (number, outcome, ms) => seconds.observe({ stage: names[number]!, outcome }, ms / 1000),
  }
}
