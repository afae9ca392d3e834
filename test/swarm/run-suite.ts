import { suite, type Test } from 'uvu'
import type { PendingGroup } from '../../node/store/store.js'
import type { Lease } from '../../proto/index.js'
import { offerGroup } from '../../swarm/index.js'
import { eventually, failure, soon } from '../support/swarm-nodes.js'
import { createTestRun, type RunSettings, type TestRun, type Volunteer } from '../support/test-run.js'

/** Tests that play with whole runs, and what they do all the time. */

export interface RunSuite {
  /** Each test can open runs, which end with it. */
  readonly test: Test<{ open(settings?: RunSettings): Promise<TestRun> }>
  /** What else ends with the test, the last first. */
  readonly opened: (() => Promise<unknown>)[]
}

/** @param usual  settings of its runs, unless a test has others */
export function runSuite(name: string, usual: RunSettings = {}): RunSuite {
  const test = suite<{ open(settings?: RunSettings): Promise<TestRun> }>(name)
  const opened: (() => Promise<unknown>)[] = []
  test.before.each((context) => {
    context.open = async (settings) => {
      const run = await createTestRun({ ...usual, ...settings })
      opened.push(() => run.close())
      return run
    }
  })
  test.after.each(async () => {
    for (const close of opened.splice(0).reverse()) await close()
  })
  return { test, opened }
}

export const offer = (from: Volunteer, { sealed }: PendingGroup) =>
  offerGroup(from.host, from.host.runId, sealed, soon())

/** The code with which the coordinator turned a request down. */
export const refusalOf = async (work: Promise<unknown>): Promise<string | null> => (await failure(work)).refusal

export async function leaseFor(node: Volunteer, holding: readonly string[] = []): Promise<Lease> {
  const { leases, reason } = await node.ask({ holding })
  if (!leases[0]) throw new Error(`no lease: ${reason}`)
  return leases[0]
}

export const verdictOn = async (run: TestRun, leaseId: string) => {
  await eventually('the verdict', () => run.coordinator.recorder.state.judged.has(leaseId))
  return run.coordinator.recorder.state.judged.get(leaseId)!
}
