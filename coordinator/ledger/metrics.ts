import { Counter, Gauge } from 'prom-client'
import type { Metrics } from '../../swarm/index.js'
import type { Recorder } from './recorder.js'

/** Counts what is recorded from now on, and tells what the state holds whenever somebody asks. */
export function meterRun(registers: Metrics, recorder: Recorder): void {
  const registersOf = { registers: [registers] }
  const events = new Counter({
    name: 'prove_events_total',
    help: 'Events appended to the log since the coordinator was started, by type',
    labelNames: ['type'],
    ...registersOf,
  })
  const verdicts = new Counter({
    name: 'prove_verdicts_total',
    help: 'Verdicts on groups since the coordinator was started; the code is that of a refusal',
    labelNames: ['outcome', 'code'],
    ...registersOf,
  })
  const leftOut = new Counter({
    name: 'prove_groups_left_out_total',
    help: 'Groups that batches left out since the coordinator was started, because the audit of the training forward found fault with them',
    ...registersOf,
  })
  recorder.listen((event) => {
    events.inc({ type: event.type })
    if (event.type === 'audited' && event.batchId !== undefined) leftOut.inc()
    if (event.type === 'judged' || event.type === 'audited')
      verdicts.inc({ outcome: event.accepted ? 'accepted' : 'refused', code: event.code ?? '' })
  })
  const { state } = recorder
  const gauges: readonly (readonly [name: string, help: string, value: () => number])[] = [
    ['prove_version', 'Version of the policy in force; -1 before the first', () => state.current?.version ?? -1],
    ['prove_round', 'Number of the round in force; -1 before the first', () => state.round?.round ?? -1],
    ['prove_keys', 'Keys that have ever asked for work', () => state.registered.size],
    ['prove_keys_reliable', 'Keys whose last lease brought an accepted group', () => state.reliable.size],
    ['prove_leases_open', 'Leases that are neither judged nor released', () => state.openLeases.size],
    [
      'prove_groups_trainable',
      'Accepted groups that a batch could take now',
      () => (state.terms ? state.trainable(state.terms.maxStaleness).length : 0),
    ],
    ['prove_groups_suspect', 'Accepted groups of keys that were caught since', () => state.suspects.size],
  ]
  for (const [name, help, value] of gauges)
    new Gauge({
      name,
      help,
      ...registersOf,
      collect() {
        this.set(value())
      },
    })
}
