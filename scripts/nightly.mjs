// Runs what is too slow, or asks too much of a machine, for every commit. The last line is `N passed, N failed`.
// Usage: npm run nightly -- [--seed N] [name ...]   names: see PARTS
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { setupOrExit } from './setup.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
/** What hangs is a failure. */
const LONGEST_MS = 2 * 3_600_000
/** Of chaos: in ten seeds in a row a coordinator is killed at every event (docs/chaos.md). */
const SEEDS = 10
/** Exit status of gpu-check where there is nothing to compare. */
const NOTHING_FOUND = 3

/** One after the other: they measure memory, and some keep all cores busy. */
const PARTS = {
  'gpu-check': () => ({ args: ['dist/test/gpu-check/main.js', '--software', '--threads', '1', '--minutes', '60'] }),
  q4_k_m: () => ({
    args: ['scripts/test.mjs', 'proc/quantised-round'],
    env: { PROVE_TEST_QUANTISATION: 'q4_k_m' },
  }),
  // No two nights have a seed in common.
  chaos: (seed) => ({ args: ['scripts/chaos.mjs', '--seed', `${seed * SEEDS}`, '--seeds', `${SEEDS}`] }),
  kills: (seed) => ({ args: ['scripts/chaos.mjs', '--processes', '--seed', `${seed}`] }),
  soak: (seed) => ({ args: ['scripts/soak.mjs', '--seed', `${seed}`] }),
  simulate: (seed) => ({ args: ['scripts/simulate.mjs', '--nodes', '300', '--minutes', '13', '--seed', `${seed}`] }),
}

function readArguments() {
  // Other misfortunes each night; what failed says its seed.
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

/** A process group of its own, so that an end of the part is one of all that it has started. */
async function run({ args, env }, execa) {
  const child = execa(process.execPath, args, {
    ...{ cwd: root, env, detached: true, reject: false },
    ...{ stdin: 'ignore', stdout: ['inherit', 'pipe'], stderr: 'inherit' },
  })
  const end = () => process.kill(-child.pid, 'SIGKILL')
  const interrupted = () => {
    end()
    process.exit(130)
  }
  const timer = setTimeout(() => {
    console.log(`it took more than ${LONGEST_MS / 3_600_000} hours`)
    end()
  }, LONGEST_MS)
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, interrupted)
  try {
    return await child
  } finally {
    clearTimeout(timer)
    for (const name of ['SIGINT', 'SIGTERM']) process.off(name, interrupted)
  }
}

const { seed, names } = readArguments()
await setupOrExit({ tests: true })
const { execa } = await import('execa') // installed by the set-up
const outcomes = []
for (const name of names) {
  console.log(`\n== ${name}`)
  const started = performance.now()
  const { exitCode, stdout } = await run(PARTS[name](seed), execa)
  const minutes = ((performance.now() - started) / 60_000).toFixed(1)
  const why = name === 'gpu-check' && exitCode === NOTHING_FOUND && /^SKIPPED: (.*)$/m.exec(stdout)?.[1]
  outcomes.push({ name, minutes, why, outcome: why ? 'skipped' : exitCode === 0 ? 'ok' : 'FAILED' })
}
console.log(`\n== seed ${seed}`)
for (const { name, minutes, why, outcome } of outcomes)
  console.log(`${outcome.padEnd(7)} ${name} in ${minutes} minutes${why ? `: ${why}` : ''}`)
const count = (wanted) => outcomes.filter(({ outcome }) => outcome === wanted).length
process.exitCode = count('FAILED') === 0 ? 0 : 1
console.log(`\n${count('ok')} passed, ${count('FAILED')} failed`)
