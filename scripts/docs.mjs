// Writes the documentation that is generated from the code. Usage: npm run docs
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

build()
const { loadEnvironments } = await import('../dist/servers/catalogue.js')
const { describeCatalogue } = await import('../dist/servers/describe.js')
const { describeChecks, describeRefusals } = await import('../dist/rollout/verification/describe-refusals.js')
const { describeMetrics } = await import('../dist/coordinator/service/describe-metrics.js')
const { withFieldTable } = await import('../dist/coordinator/settings/describe-fields.js')
const catalogue = `${root}docs/environments/catalogue/`
rmSync(catalogue, { recursive: true, force: true })
mkdirSync(catalogue)
for (const [name, text] of describeCatalogue(await loadEnvironments())) writeFileSync(`${catalogue}${name}`, text)
writeFileSync(`${root}docs/reference/verdicts.md`, describeRefusals())
writeFileSync(`${root}docs/reference/metrics.md`, await describeMetrics())
const { withLearningRates } = await import('../dist/coordinator/settings/learning-rates.js')
await import('../dist/swarm/polyfill.js')
const { describeExitStatuses, describePrograms } = await import('../dist/common/cli/index.js')
const { PROGRAM } = await import('../dist/bin/program.js')
const { PROGRAMS } = await import('../dist/bin/programs.js')
const programs = [...(await Promise.all(PROGRAMS.map((one) => one.load()))), PROGRAM]
writeFileSync(`${root}docs/reference/commands.md`, await describePrograms(programs))
writeFileSync(`${root}docs/reference/exit-codes.md`, describeExitStatuses())
const { describeEvents } = await import('./describe-events.mjs')
const { EVENTS } = await import('../dist/coordinator/ledger/events.js')
writeFileSync(`${root}docs/reference/events.md`, describeEvents(EVENTS))
const trainer = `${root}docs/reference/trainer.md`
writeFileSync(trainer, withLearningRates(readFileSync(trainer, 'utf8')))
const configuration = `${root}docs/reference/configuration.md`
writeFileSync(configuration, withFieldTable(readFileSync(configuration, 'utf8')))

const { DOCUMENTS, readRows, withRows: withCounterparts } = await import('./counterparts/rows.mjs')
for (const path of DOCUMENTS)
  writeFileSync(`${root}${path}`, withCounterparts(readFileSync(`${root}${path}`, 'utf8'), readRows()))

const { withResults } = await import('./readme.mjs')
const results = JSON.parse(readFileSync(`${root}docs/reports/results.json`, 'utf8'))
writeFileSync(`${root}README.md`, withResults(readFileSync(`${root}README.md`, 'utf8'), results))

const { describeLimits } = await import('../dist/proto/describe-limits.js')
writeFileSync(`${root}docs/reference/limits.md`, describeLimits())
const protocol = `${root}docs/reference/protocol.md`
const CHECKS_HEAD = '| check | contents | rejection codes | groups |'
writeFileSync(protocol, withRows(readFileSync(protocol, 'utf8'), CHECKS_HEAD, describeChecks()))

const { OBJECTIONS } = await import('../dist/tasks/synthesis/index.js')
const synthesis = `${root}docs/explain/synthesis.md`
const objections = OBJECTIONS.map(({ name, protects }) => `| \`${name}\` | ${protects} |`)
const OBJECTION_HEAD = '| objection | protects |'
writeFileSync(synthesis, withRows(readFileSync(synthesis, 'utf8'), OBJECTION_HEAD, objections))

/** The text with these rows in the table that begins with `head`. */
function withRows(text, head, rows) {
  const [before, after] = text.split(`${head}\n`)
  if (after === undefined) throw new Error(`a document has no table "${head}"`)
  const [rule] = after.split('\n')
  return `${before}${head}\n${rule}\n${rows.join('\n')}\n${after.slice(after.indexOf('\n<!-- /generated -->') + 1)}`
}
