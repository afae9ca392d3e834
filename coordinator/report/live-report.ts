import type { EventLog } from '../ledger/chained-log.js'
import type { RunEvent } from '../ledger/events.js'
import type { Recorder } from '../ledger/recorder.js'
import { RunReducer } from '../ledger/run-reducer.js'
import type { RunState } from '../ledger/run-state.js'
import { CoverageTally } from './coverage-report.js'
import { GroupsTally } from './group-report.js'
import { NodesTally } from './node-report.js'
import { RunTally } from './run-report.js'

/** Leases that are remembered one by one: with the sketches of their groups, some 10 kB each. */
const GROUPS_REMEMBERED = 1000
/** Events between two pauses for other work while the log is read. */
const EVENTS_PER_TURN = 200

/** All reports of a run, updated with its events, so that readers need not read the log. */
export class LiveReport {
  readonly #reducer = new RunReducer()
  readonly run = new RunTally()
  readonly nodes = new NodesTally(this.#reducer)
  readonly groups = new GroupsTally(GROUPS_REMEMBERED)
  readonly coverage = new CoverageTally(this.#reducer)
  readonly #listeners = new Set<(event: RunEvent) => void>()
  /** Number of events so far. It changes whenever the report does. */
  revision = 0
  /** Number of events of the log that are not counted yet. */
  behind = 0

  /** State of the run after these events. */
  get state(): RunState {
    return this.#reducer
  }

  add(event: RunEvent): void {
    this.#reducer.apply(event)
    for (const tally of [this.run, this.nodes, this.groups, this.coverage]) tally.add(event)
    this.revision += 1
    for (const notify of this.#listeners) notify(event)
  }

  /** Calls back after every further event. @returns  a function that unsubscribes */
  listen(listener: (event: RunEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/**
 * Reads the log in the background, and then follows further events. Has to be called before the first event is recorded.
 * @param count  number of events of the log
 * @returns  rejects with the error of the log, or the signal's reason
 */
export async function followRun(
  report: LiveReport,
  {
    log,
    recorder,
    count,
  }: { readonly log: EventLog; readonly recorder: Pick<Recorder, 'listen'>; readonly count: number },
  signal: AbortSignal,
): Promise<void> {
  const waiting: RunEvent[] = []
  let isUp = false
  report.behind = count
  const stop = recorder.listen((event) => {
    if (isUp) report.add(event)
    else report.behind = count - report.revision + waiting.push(event)
  })
  signal.addEventListener('abort', stop, { once: true })
  if (count > 0)
    for await (const event of log.replay()) {
      signal.throwIfAborted()
      report.add(event)
      report.behind -= 1
      // Later events are in `waiting`.
      if (report.revision === count) break
      if (report.revision % EVENTS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  for (const event of waiting) report.add(event)
  report.behind = 0
  isUp = true
}
