// Runs the tests that are too slow, or need too large a machine, for every commit. The last line is `N passed, N failed, N skipped`.
// Usage: npm run nightly -- [--seed N] [name ...]   names: see PARTS
import { parseArgs } from 'node:util'
import { runGroup } from './processes.mjs'
import { MAJORS } from './runner/node-versions.mjs'
import { setupOrExit } from './setup.mjs'

/** Kills a part after two hours, which counts as a failure. */
const LIMIT_MS = 2 * 3_600_000
/** Seeds of chaos: ten consecutive seeds kill a coordinator at every event (docs/contribute/chaos.md). */
const SEEDS = 10

/** The parts run one after the other: they measure memory, and some keep all cores busy. */
const PARTS = {
  'gpu-check': () => ({ args: ['scripts/test.mjs', '--built', 'gpu'] }),
  bfcl: () => ({ args: ['scripts/test.mjs', '--built', 'bfcl'] }),
  'node-versions': () => ({
    args: ['scripts/test.mjs', '--built', ...MAJORS.map((major) => `node-versions/${major}`)],
  }),
  q4_k_m: () => ({
    args: ['scripts/test.mjs', '--built', 'proc/quantised-round'],
    env: { PROVE_TEST_QUANTISATION: 'q4_k_m' },
  }),
  counterparts: () => ({ args: ['scripts/test.mjs', '--built', 'counterparts'] }),
  // Newer versions of the counterparts: a failure here is news, not a fault of the last commit.
  drift: () => ({ args: ['scripts/counterparts.mjs', '--newest'] }),
  demo: (seed) => ({ args: ['scripts/demo.mjs', '--built', '--gate', '--seed', `${seed}`] }),
  // No two nights share a seed.
  chaos: (seed) => ({ args: ['scripts/chaos.mjs', '--seed', `${seed * SEEDS}`, '--seeds', `${SEEDS}`] }),
  kills: (seed) => ({ args: ['scripts/chaos.mjs', '--processes', '--seed', `${seed}`] }),
  soak: (seed) => ({ args: ['scripts/soak.mjs', '--seed', `${seed}`] }),
  simulate: (seed) => ({ args: ['scripts/simulate.mjs', '--nodes', '300', '--minutes', '13', '--seed', `${seed}`] }),
}

function readArguments() {
  // Each night has another seed. A failure reports the seed.
  const tonight = Math.floor(Date.now() / 86_400_000)
  try {
    const options = { seed: { type: 'string', default: `${tonight}` } }
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    const unknown = positionals.find((name) => !Object.hasOwn(PARTS, name))
    if (unknown !== undefined)
      throw new Error(`there is no part "${unknown}"; choose from ${Object.keys(PARTS).join(', ')}`)
    if (!/^\d{1,8}$/.test(values.seed)) throw new Error(`--seed takes a number, not ${JSON.stringify(values.seed)}`)
    return { seed: Number(values.seed), names: positionals.length > 0 ? positionals : Object.keys(PARTS) }
  } catch (error) {
    console.error(`nightly: ${error.message}`)
    process.exit(2)
  }
}

const { seed, names } = readArguments()
await setupOrExit({ tests: true })
const outcomes = []
for (const name of names) {
  console.log(`\n== ${name}`)
  const started = performance.now()
  const { args, env } = PARTS[name](seed)
  const { ok, output } = await runGroup(process.execPath, args, { env, limitMs: LIMIT_MS, echo: true })
  const minutes = ((performance.now() - started) / 60_000).toFixed(1)
  const skips = [...output.matchAll(/^skip .+$/gm)].map(([line]) => line)
  outcomes.push({ name, minutes, skips, outcome: !ok ? 'FAILED' : skips.length > 0 ? 'skipped' : 'ok' })
}
console.log(`\n== seed ${seed}`)
for (const { name, minutes, skips, outcome } of outcomes) {
  console.log(`${outcome.padEnd(7)} ${name} in ${minutes} minutes`)
  for (const line of skips) console.log(`        ${line}`)
}
const count = (wanted) => outcomes.filter(({ outcome }) => outcome === wanted).length
process.exitCode = count('FAILED') === 0 ? 0 : 1
console.log(`\n${count('ok')} passed, ${count('FAILED')} failed, ${count('skipped')} skipped`)
