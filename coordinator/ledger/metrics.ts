import { Counter, Gauge } from 'prom-client'
import type { Metrics } from '../../swarm/index.js'
import type { Recorder } from './recorder.js'
import type { NodeRecord, RunState } from './run-state.js'

/** Counts what the disk has lost of the data folder. @returns  to be called with each file */
export function meterLosses(registers: Metrics): (part: string, outcome: string) => void {
  const losses = new Counter({
    name: 'prove_disk_losses_total',
    help: 'Files of the data folder that were missing or damaged, by part and by what became of it: recovered, replaced, lost',
    labelNames: ['part', 'outcome'],
    registers: [registers],
  })
  return (part, outcome) => losses.inc({ part, outcome })
}

/** Counts what is recorded from now on, and tells what the state holds whenever somebody asks. */
export function meterRun(registers: Metrics, recorder: Pick<Recorder, 'listen' | 'state'>): void {
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
  const doubted = new Counter({
    name: 'prove_groups_doubted_total',
    help: 'Groups in batches, unaudited, whose keys were found to be caught, since the coordinator was started',
    ...registersOf,
  })
  const leftOut = new Counter({
    name: 'prove_groups_left_out_total',
    help: 'Groups that batches left out since the coordinator was started, because the audit of the training forward found fault with them',
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
    ['prove_keys_reliable', 'Keys whose last lease brought an accepted group', () => state.reliable.size],
    [
      'prove_keys_doubted',
      'Keys with failed audits that are not made good',
      () => count(state, (one) => one.reputation.doubt > 0),
    ],
    [
      'prove_keys_held_back',
      'Keys whose groups no batch takes until further audits have shown whether they choose their tokens',
      () => count(state, (one) => one.reputation.isHeldBack),
    ],
    [
      'prove_keys_excluded',
      'Keys that get no work any more',
      () => count(state, (one) => one.reputation.quarantinedUntilMs === null),
    ],
    [
      'prove_leases_abandoned',
      'Leases that lapsed, were given back or forgotten, of all keys',
      () => [...state.nodes.values()].reduce((sum, { abandoned }) => sum + abandoned, 0),
    ],
    ['prove_leases_open', 'Leases that are neither judged nor released', () => state.openLeases.size],
    [
      'prove_groups_trainable',
      'Accepted groups that a batch could take now',
      () => (state.configuration ? state.trainableCount(state.configuration.maxStaleness) : 0),
    ],
    ['prove_paused', 'Whether the operator has paused the run: 1, or 0', () => Number(state.orders.pause !== null)],
    ['prove_keys_banned', 'Keys that the operator keeps from the run', () => state.orders.banned.size],
    ['prove_tasks_dropped', 'Tasks that the operator has taken out of the run', () => state.orders.droppedTasks.size],
    [
      'prove_environments_disabled',
      'Worlds that the operator has put to rest',
      () => state.orders.disabledEnvironments.size,
    ],
    [
      'prove_versions_withdrawn',
      'Versions among those still served that have given way to an earlier policy',
      () => state.withdrawn.size,
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
  new Gauge({
    name: 'prove_key_leases',
    help: `Leases that were abandoned, and verdicts that were given, of the ${KEYS_SHOWN} keys that abandoned most`,
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

/** Keys are free, and each one shown is two time series for good. */
const KEYS_SHOWN = 20

/** Whoever picks among its leases abandons many of them, and nothing else about it need be strange. */
const mostAbandoning = ({ nodes }: RunState): NodeRecord[] =>
  [...nodes.values()]
    .filter(({ abandoned }) => abandoned > 0)
    .sort((a, b) => b.abandoned - a.abandoned)
    .slice(0, KEYS_SHOWN)

const count = ({ nodes }: RunState, is: (record: NodeRecord) => boolean): number =>
  [...nodes.values()].filter(is).length
