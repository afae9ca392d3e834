// Writes the documentation that is generated from the code. Usage: npm run docs
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

build()
const { CATALOGUE } = await import('../dist/servers/catalogue.js')
const { describeCatalogue } = await import('../dist/servers/describe.js')
const { describeRefusals } = await import('../dist/rollout/verification/describe-refusals.js')
const { describeMetrics } = await import('../dist/coordinator/service/describe-metrics.js')
const { withFieldTable } = await import('../dist/coordinator/settings/describe-fields.js')
writeFileSync(`${root}docs/servers.md`, describeCatalogue(CATALOGUE))
writeFileSync(`${root}docs/verdicts.md`, describeRefusals())
writeFileSync(`${root}docs/metrics.md`, await describeMetrics())
const { withLearningRates } = await import('../dist/coordinator/settings/learning-rates.js')
await import('../dist/swarm/polyfill.js')
const { describePrograms, withCommands } = await import('../dist/common/cli/index.js')
const { serverProgram } = await import('../dist/servers/episodes/commands/program.js')
const rooms = await Promise.all(
  ['node', 'coordinator', 'lab'].map((room) => import(`../dist/${room}/commands/program.js`)),
)
const programs = await Promise.all(rooms.map(({ PROGRAM }) => withCommands(PROGRAM)))
writeFileSync(`${root}docs/commands.md`, describePrograms([...programs, serverProgram()]))
const { describeEvents } = await import('./describe-events.mjs')
const { EVENTS } = await import('../dist/coordinator/ledger/events.js')
writeFileSync(`${root}docs/events.md`, describeEvents(EVENTS))
const trainer = `${root}docs/trainer.md`
writeFileSync(trainer, withLearningRates(readFileSync(trainer, 'utf8')))
const configuration = `${root}docs/configuration.md`
writeFileSync(configuration, withFieldTable(readFileSync(configuration, 'utf8')))
