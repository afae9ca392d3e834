import { Counter, Gauge } from 'prom-client'
import type { Metrics } from '../../swarm/index.js'
import type { Recorder } from './recorder.js'
import type { NodeRecord, RunState } from './run-state.js'

/** Counts files of the data folder that the disk has lost. @returns  a function to call with each file */
export function meterLosses(registers: Metrics): (part: string, outcome: string) => void {
  const losses = new Counter({
    name: 'prove_disk_losses_total',
    help: 'Files of the data folder that were missing or damaged, by part and outcome: recovered, replaced, lost',
    labelNames: ['part', 'outcome'],
    registers: [registers],
  })
  return (part, outcome) => losses.inc({ part, outcome })
}

/** Counts events from now on, and measures the state whenever the metrics are collected. */
export function meterRun(registers: Metrics, recorder: Pick<Recorder, 'listen' | 'state'>): void {
  const registersOf = { registers: [registers] }
  const events = new Counter({
    name: 'prove_events_total',
    help: 'Events appended to the log since the start of the coordinator, by type',
    labelNames: ['type'],
    ...registersOf,
  })
  const verdicts = new Counter({
    name: 'prove_verdicts_total',
    help: 'Verdicts on groups since the start of the coordinator, with the code of a refusal',
    labelNames: ['outcome', 'code'],
    ...registersOf,
  })
  const doubted = new Counter({
    name: 'prove_groups_doubted_total',
    help: 'Unaudited groups in batches whose keys were caught later, since the start of the coordinator',
    ...registersOf,
  })
  const leftOut = new Counter({
    name: 'prove_groups_left_out_total',
    help: 'Groups that were left out of batches since the start of the coordinator because the audit by the training forward failed',
    ...registersOf,
  })
  recorder.listen((event) => {
    events.inc({ type: event.type })
    if (event.type === 'batch-doubted') doubted.inc(event.leaseIds.length)
    if (event.type === 'audited' && event.batchId !== undefined) leftOut.inc()
    if (event.type === 'judged' || event.type === 'audited')
      verdicts.inc({ outcome: event.accepted ? 'accepted' : 'refused', code: event.code ?? '' })
  })
  const { state } = recorder
  const gauges: readonly (readonly [name: string, help: string, value: () => number])[] = [
    ['prove_version', 'Version of the policy in force; -1 before the first', () => state.current?.version ?? -1],
    ['prove_round', 'Number of the round in force; -1 before the first', () => state.round?.round ?? -1],
    ['prove_keys', 'Keys that have ever asked for work', () => state.registered.size],
    ['prove_keys_reliable', 'Keys whose last lease ended with an accepted group', () => state.reliable.size],
    [
      'prove_keys_doubted',
      'Keys with failed audits that passed audits have not outweighed yet',
      () => count(state, (one) => one.reputation.doubt > 0),
    ],
    [
      'prove_keys_held_back',
      'Keys whose groups are held back from batches until further audits show whether they steer their sampling',
      () => count(state, (one) => one.reputation.isHeldBack),
    ],
    [
      'prove_keys_excluded',
      'Keys that are excluded for good',
      () => count(state, (one) => one.reputation.quarantinedUntilMs === null),
    ],
    [
      'prove_leases_abandoned',
      'Leases of all keys that lapsed, were returned or were forgotten',
      () => [...state.nodes.values()].reduce((sum, { abandoned }) => sum + abandoned, 0),
    ],
    ['prove_leases_open', 'Leases without a verdict that were not released', () => state.openLeases.size],
    [
      'prove_groups_trainable',
      'Accepted groups that a batch could take now',
      () => (state.configuration ? state.trainableCount(state.configuration.maxStaleness) : 0),
    ],
    ['prove_paused', 'Whether the operator has paused the run: 1, or 0', () => Number(state.orders.pause !== null)],
    ['prove_keys_banned', 'Keys that the operator has banned', () => state.orders.banned.size],
    ['prove_tasks_dropped', 'Tasks that the operator has dropped', () => state.orders.droppedTasks.size],
    [
      'prove_environments_disabled',
      'Environments that the operator has disabled',
      () => state.orders.disabledEnvironments.size,
    ],
    ['prove_versions_withdrawn', 'Served versions that were withdrawn by a rollback', () => state.withdrawn.size],
    ['prove_groups_suspect', 'Accepted groups of keys that were caught later', () => state.suspects.size],
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
  new Gauge({
    name: 'prove_key_leases',
    help: `Abandoned leases and verdicts of the ${KEYS_SHOWN} keys that abandoned most leases`,
    labelNames: ['node', 'end'],
    ...registersOf,
    collect() {
      this.reset()
      for (const { node, abandoned, verdictCount } of mostAbandoning(state)) {
        this.set({ node, end: 'abandoned' }, abandoned)
        this.set({ node, end: 'judged' }, verdictCount)
      }
    },
  })
}

/** Keys are free to create, and each shown key adds two permanent time series. */
const KEYS_SHOWN = 20

/** A node that picks among its leases abandons many of them, and may look normal otherwise. */
const mostAbandoning = ({ nodes }: RunState): NodeRecord[] =>
  [...nodes.values()]
    .filter(({ abandoned }) => abandoned > 0)
    .sort((a, b) => b.abandoned - a.abandoned)
    .slice(0, KEYS_SHOWN)

const count = ({ nodes }: RunState, is: (record: NodeRecord) => boolean): number =>
  [...nodes.values()].filter(is).length
