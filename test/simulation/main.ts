import '../../swarm/polyfill.js'
import { parseArgs } from 'node:util'
import { MEASURED } from './measured.js'
import { reportLines } from './report-lines.js'
import { simulate, WARM_UP_MINUTES } from './simulation.js'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1000' },
    minutes: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    'audit-ms': { type: 'string', default: String(MEASURED.auditMs.value) },
    profile: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})

const whole = (name: 'nodes' | 'minutes' | 'seed' | 'audit-ms', least: number, most: number): number => {
  const text = values[name]
  const number = Number(text)
  if (/^\d{1,9}$/.test(text) && number >= least && number <= most) return number
  console.error(`simulate: --${name} takes a number from ${least} to ${most}, not ${JSON.stringify(text)}`)
  process.exit(2)
}

// A million waits end by a signal, and each would pay for a trace that nobody reads.
Error.stackTraceLimit = 1

// What was simulated by then is told all the same.
const ending = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ending.abort())

const minutes = whole('minutes', WARM_UP_MINUTES + 1, 1440)
const started = performance.now()
const report = await simulate({
  ...{ minutes, signal: ending.signal },
  profiles: values.profile,
  nodes: whole('nodes', 2, 20_000),
  seed: whole('seed', 0, 2 ** 30),
  auditMs: whole('audit-ms', 0, 600_000),
  onMinute: (minute, versions) => {
    const realS = ((performance.now() - started) / 1000).toFixed(0)
    if (!values.json) console.error(`minute ${minute} of ${minutes}: version ${versions}, after ${realS} s`)
  },
})
const memoryMiB = Math.round(process.memoryUsage().rss / 2 ** 20)
const realS = Math.round((performance.now() - started) / 1000)
if (values.json) console.log(JSON.stringify({ ...report, realS, memoryMiB }))
else for (const line of reportLines(report)) console.log(line)
process.exitCode = report.error === null && report.invariants.length === 0 ? 0 : 1
