import { createMachine } from '../support/programs.js'
import { killAtRandom } from '../support/random-kills.js'
import type { ScenarioResult } from './run-scenario.js'

const KILLS = 12
const VERSIONS = 6

/** A run of real processes (model, trainer and audits included) of which one after the other is killed at a random instant. */
export async function killProcesses(seed: number): Promise<ScenarioResult> {
  // That the disk answers in order is a need of the simulation only.
  delete process.env.UV_THREADPOOL_SIZE
  const started = performance.now()
  const machine = await createMachine()
  const blows: Record<string, number> = {}
  const violations: string[] = []
  let events = 0
  try {
    const log = await killAtRandom(machine, {
      ...{ seed, kills: KILLS, versions: VERSIONS },
      onKill(victim) {
        blows[`kill of ${victim}`] = (blows[`kill of ${victim}`] ?? 0) + 1
      },
    })
    events = log.length
  } catch (error) {
    violations.push(error instanceof Error ? error.message : String(error))
  } finally {
    await machine.close()
  }
  const realMs = performance.now() - started
  return {
    scenario: 'processes',
    seed,
    passed: violations.length === 0,
    violations,
    blows,
    events,
    realMs,
    virtualMs: realMs,
  }
}
