import type { EventLog } from '../ledger/chained-log.js'
import type { RunEvent } from '../ledger/events.js'
import type { Recorder } from '../ledger/recorder.js'
import { RunReducer } from '../ledger/run-reducer.js'
import type { RunState } from '../ledger/run-state.js'
import { CoverageTally } from './coverage-report.js'
import { GroupsTally } from './group-report.js'
import { NodesTally } from './node-report.js'
import { RunTally } from './run-report.js'

/** Leases that are remembered one by one: with the sayings of their groups some 10 kB each. */
const GROUPS_REMEMBERED = 1000
/** Events between two breaths while the log is read. */
const BREATH = 200

/** What is to be said of a run, kept up with its events: nobody who looks at it walks through the log. */
export class LiveReport {
  readonly #reducer = new RunReducer()
  readonly run = new RunTally()
  readonly nodes = new NodesTally(this.#reducer)
  readonly groups = new GroupsTally(GROUPS_REMEMBERED)
  readonly coverage = new CoverageTally(this.#reducer)
  readonly #listeners = new Set<(event: RunEvent) => void>()
  /** Events so far: it has changed since somebody looked when this has. */
  revision = 0
  /** Events of the log that are not counted yet; 0 once the report is up with the run. */
  behind = 0

  /** Of the events so far. */
  get state(): RunState {
    return this.#reducer
  }

  add(event: RunEvent): void {
    this.#reducer.apply(event)
    for (const tally of [this.run, this.nodes, this.groups, this.coverage]) tally.add(event)
    this.revision += 1
    for (const hear of this.#listeners) hear(event)
  }

  /** Calls back after every further event. @returns  stops that */
  listen(listener: (event: RunEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/**
 * Reads the log in the background, and then hears of each further event. To be called before anything is recorded.
 * @param count  events that the log holds
 * @returns  rejects with what kept the log from being read, or the signal's reason
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
      // What was recorded meanwhile is heard as well.
      if (report.revision === count) break
      if (report.revision % BREATH === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  for (const event of waiting) report.add(event)
  report.behind = 0
  isUp = true
}
