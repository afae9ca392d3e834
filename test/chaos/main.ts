import '../../swarm/polyfill.js'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { execa } from 'execa'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { killProcesses } from './kill-processes.js'
import { runScenario, type ScenarioResult } from './run-scenario.js'
import { SCENARIOS, type Scenario } from './scenarios/index.js'

const RUNS_PER_PROCESS = 6

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    scenario: { type: 'string', multiple: true },
    processes: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    log: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    // Runs the scenarios in this process, whatever their number.
    here: { type: 'boolean', default: false },
  },
})

const fail = (message: string): never => {
  console.error(`chaos: ${message}`)
  process.exit(2)
}
const whole = (name: string, text: string): number =>
  /^\d{1,9}$/.test(text) ? Number(text) : fail(`--${name} takes a number, not ${JSON.stringify(text)}`)

const unknown = values.scenario?.find((name) => !SCENARIOS.some((scenario) => scenario.name === name))
const names = SCENARIOS.map(({ name, about }) => `\n  ${name.padEnd(22)} ${about}`).join('')
if (unknown !== undefined) fail(`there is no scenario ${JSON.stringify(unknown)}; choose from:${names}`)
if (values.list) {
  console.log(`scenarios:${names}`)
  process.exit(0)
}

const first = whole('seed', values.seed)
const last = first + whole('seeds', values.seeds) - 1
const chosen = SCENARIOS.filter(({ name }) => values.scenario?.includes(name) ?? true)
const results: ScenarioResult[] = []
if (values.processes) {
  for (let seed = first; seed <= last; seed++) report(await killProcesses(seed), [])
} else if (chosen.length > 1 && !values.here) await simulateApart()
else for (const scenario of chosen) await simulate(scenario)
if (values.json) console.log(JSON.stringify(results))
process.exitCode ??= results.every(({ passed }) => passed) ? 0 : 1

async function simulate(scenario: Scenario): Promise<void> {
  for (let seed = first; seed <= last; seed++) {
    const { result, events } = await runScenario(scenario, seed)
    report(result, events)
  }
}

/**
 * Runs the scenarios in child processes, a few runs in each. Loading the programs costs a process two seconds, and every run leaves some
 * 15 MB behind: Node.js keeps what killed machines waited for.
 */
async function simulateApart(): Promise<void> {
  if (!values.json && !values.log)
    console.log(
      'the coordinator and the volunteers are real, on simulated wires and time; scripts replace inference and torch',
    )
  let isSound = true
  const size = Math.max(1, Math.floor(RUNS_PER_PROCESS / (last - first + 1)))
  for (let at = 0; at < chosen.length; at += size) {
    const names = chosen.slice(at, at + size).flatMap(({ name }) => ['--scenario', name])
    const flags = [...names, '--here', '--seed', values.seed, '--seeds', values.seeds]
    if (values.json) flags.push('--json')
    if (values.log) flags.push('--log')
    const { exitCode, stdout } = await execa(process.execPath, [fileURLToPath(import.meta.url), ...flags], {
      ...{ reject: false, stdin: 'ignore', stderr: 'inherit' },
      stdout: values.json ? 'pipe' : 'inherit',
    })
    isSound &&= exitCode === 0
    if (values.json) results.push(...(JSON.parse(String(stdout)) as ScenarioResult[]))
  }
  process.exitCode = isSound ? 0 : 1
}

function report(result: ScenarioResult, events: readonly RunEvent[]): void {
  results.push(result)
  if (values.log) for (const event of events) console.log(JSON.stringify(event))
  else if (!values.json) show(result)
}

function show({ scenario, seed, passed, violations, blows, virtualMs, events, realMs }: ScenarioResult): void {
  const seconds = (ms: number): string => (ms / 1000).toFixed(1)
  const time = values.processes ? '' : `${seconds(virtualMs)} s of virtual time in `
  const figures = `${events} events, ${time}${seconds(realMs)} s`
  console.log(`${passed ? 'passed' : 'FAILED'}  ${scenario.padEnd(22)} seed ${seed}: ${figures}`)
  const befell = Object.entries(blows).map(([kind, times]) => `${times} ${kind}`)
  if (befell.length > 0) console.log(`        ${befell.join(', ')}`)
  for (const violation of violations.slice(0, 20)) console.log(`        ${violation}`)
  if (violations.length > 20) console.log(`        and ${violations.length - 20} more`)
  const which = values.processes ? '--processes' : `--scenario ${scenario}`
  if (!passed) console.log(`        again: npm run chaos -- ${which} --seed ${seed}`)
}
