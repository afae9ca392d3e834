// Runs rows of the suite `counterparts` outside the test runner.
// Usage: node scripts/counterparts.mjs --newest [row ...]   the newest versions instead of the pinned ones; prints the drift
//        node scripts/counterparts.mjs --record [row ...]   the pinned versions; writes the date of each success into the rows
//        node scripts/counterparts.mjs --pin [row ...]      writes the versions of all installed packages as constraints
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { constraintsOf, freeze, installNewest, installRow } from './counterparts/environments.mjs'
import { DOCUMENTS, ROWS_FILE, readRows, versionsOf, withRows } from './counterparts/rows.mjs'
import { runRow } from './counterparts/suite.mjs'
import { root, runGroup } from './processes.mjs'
import { setupOrExit } from './setup.mjs'

const MODES = ['newest', 'record', 'pin']

function readArguments() {
  try {
    const options = Object.fromEntries(MODES.map((mode) => [mode, { type: 'boolean', default: false }]))
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    const chosen = MODES.filter((mode) => values[mode])
    if (chosen.length !== 1) throw new Error(`choose one of ${MODES.map((mode) => `--${mode}`).join(', ')}`)
    const rows = readRows()
    const unknown = positionals.find((name) => !rows.some((row) => row.name === name))
    if (unknown !== undefined)
      throw new Error(`there is no row "${unknown}"; choose from ${rows.map(({ name }) => name).join(', ')}`)
    return { mode: chosen[0], rows, isWanted: ({ name }) => positionals.length === 0 || positionals.includes(name) }
  } catch (error) {
    console.error(`counterparts: ${error.message}`)
    process.exit(2)
  }
}

const sum = (results, key) => results.reduce((total, result) => total + result[key], 0)

/** Returns the difference of a row's packages from the installed ones, as `name pinned -> newest`. */
async function driftOf(row, python) {
  const normal = (name) => name.toLowerCase().replaceAll('_', '-')
  const newest = new Map(
    (await freeze(python)).map((line) => line.split('==')).map(([name, version]) => [normal(name), version]),
  )
  return versionsOf(row).map(([name, pinned]) => {
    const found = newest.get(normal(name))
    return found === pinned ? `${name} ${pinned} is the newest` : `${name} ${pinned} -> ${found ?? 'unknown'}`
  })
}

const { mode, rows, isWanted } = readArguments()
await setupOrExit({ tests: true })
const totals = { passed: 0, failed: 0, skipped: 0 }
for (const row of rows.filter(isWanted)) {
  // The npm packages are those of the project.
  if (row.npm && mode !== 'record') continue
  if (mode === 'pin') {
    writeFileSync(constraintsOf(row), `${(await freeze(await installRow(row))).join('\n')}\n`)
    console.log(`pinned ${row.name}`)
    continue
  }
  let python
  const results = await runRow(row, async () => {
    python = await (mode === 'newest' ? installNewest(row) : installRow(row))
    return python
  })
  for (const key of Object.keys(totals)) totals[key] += sum(results, key)
  const outcome = sum(results, 'failed') > 0 ? 'FAILS' : sum(results, 'skipped') > 0 ? 'was skipped' : 'passes'
  if (mode === 'newest' && python)
    console.log(`drift ${row.name}: ${(await driftOf(row, python)).join(', ')}: ${outcome}`)
  if (mode === 'record' && outcome === 'passes') {
    row.tested = new Date().toISOString().slice(0, 10)
    writeFileSync(ROWS_FILE, `${JSON.stringify(rows, null, 2)}\n`)
  }
}
if (mode === 'record') {
  await runGroup(`${root}node_modules/.bin/biome`, ['format', '--write', ROWS_FILE], { limitMs: 60_000 })
  for (const path of DOCUMENTS) writeFileSync(`${root}${path}`, withRows(readFileSync(`${root}${path}`, 'utf8'), rows))
}
process.exitCode = totals.failed > 0 ? 1 : 0
console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
