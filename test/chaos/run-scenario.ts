import type { RunEvent } from '../../coordinator/ledger/events.js'
import { deriveSeed, seededRandom } from '../../servers/kernel/index.js'
import { type ChaosSettings, openChaosRun } from './chaos-run.js'
import { checkLog } from './check-log.js'
import { checkDeliveries, checkLedgers } from './check-volunteers.js'
import type { Scenario } from './scenarios/index.js'

export interface ScenarioResult {
  readonly scenario: string
  readonly seed: number
  readonly passed: boolean
  /** One sentence each. */
  readonly violations: readonly string[]
  /** How often each kind of thing befell the run. */
  readonly blows: Readonly<Record<string, number>>
  readonly virtualMs: number
  readonly events: number
  readonly realMs: number
}

const VERSIONS = 4
const USUAL: ChaosSettings = { volunteers: 3, config: { versions: VERSIONS }, adapterBytes: 20_000, stepMs: 4000 }
const BOUNDS = { versions: VERSIONS, maxStaleness: 1, leasesPerNode: 2 }

/** Plays a scenario once, and checks what is left of the run. */
export async function runScenario(
  scenario: Scenario,
  seed: number,
): Promise<{ readonly result: ScenarioResult; readonly events: readonly RunEvent[] }> {
  const started = performance.now()
  const violations: string[] = []
  const note = (what: string, error: unknown): void => void violations.push(`${what}: ${describe(error)}`)
  const run = await openChaosRun(deriveSeed('chaos', scenario.name, seed), { ...USUAL, ...scenario.settings })
  const startMs = run.simulated.time.nowMs
  try {
    await scenario.befall(run, seededRandom(deriveSeed('scenario', scenario.name, seed)))
    await run.complete()
  } catch (error) {
    note('the run did not go on', error)
  }
  const virtualMs = run.simulated.time.nowMs - startMs
  const { expects = () => false } = scenario
  for (const { machine, error } of run.exits) if (!expects(error)) note(`${machine} ended`, error)
  for (const { machine, message, error } of run.mishaps) if (!expects(error)) note(`${machine}: ${message}`, error)
  const blows = new Map(run.simulated.blows)
  const { events, volunteers } = await run.close()
  for (const event of events) {
    if (event.type === 'body-lost') blows.set('body given up', (blows.get('body given up') ?? 0) + 1)
    if ((event.type !== 'judged' && event.type !== 'audited') || event.accepted) continue
    const kind = `verdict ${event.code}`
    blows.set(kind, (blows.get(kind) ?? 0) + 1)
  }
  const found = [
    ...run.forgotten,
    ...checkLog(events, BOUNDS),
    ...checkLedgers(events, volunteers),
    ...checkDeliveries(events, volunteers),
  ]
  for (const { rule, at, detail } of found) violations.push(`${rule}${at === null ? '' : ` at event ${at}`}: ${detail}`)
  violations.push(...(scenario.check?.(events, run.peerIds) ?? []))
  const result: ScenarioResult = {
    scenario: scenario.name,
    seed,
    passed: violations.length === 0,
    violations,
    blows: Object.fromEntries([...blows].sort()),
    virtualMs,
    events: events.length,
    realMs: Math.round(performance.now() - started),
  }
  return { result, events }
}

const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error ? `${error.message} (${describe(cause)})` : error.message
}
