// Runs checks and test suites. Sets up what the wanted suites need first; what the machine lacks is skipped and reported. The last line
// is `N passed, N failed, N skipped`. With PROVE_NO_SKIPS=1 a skip is a failure.
// Usage: npm test -- [--times] [--built] [suite | suite/file ...]   such as: unit swarm, proc/recovery, unit/reward
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { skip } from './runner/jobs.mjs'
import { missing } from './runner/needs.mjs'
import { belongs, jobsOf, SUITES, suiteOf } from './runner/suites.mjs'
import { setupOrExit } from './setup.mjs'

/** The jobs that take longest, which start first: at the end, one of them would run alone. All others take about as long as each other. */
const HEAVIEST = [
  ...[
    'proc/attackers',
    'proc/chaos',
    'proc/walk',
    'proc/quickstarts',
    'proc/recovery',
    'swarm/chaos',
    'proc/cli',
    'release',
    'trainer',
  ],
  ...['node-versions', 'synthesis/production', 'proc/dashboard', 'proc/steering', 'proc/stranger'],
  ...['counterparts/trl', 'counterparts/verifiers', 'counterparts'],
  ...['proc/mcp-python-client', 'environments', 'property', 'synthesis'],
]
/** Heavy jobs at a time. */
const MOST_HEAVY = 4

function readArguments() {
  const options = {
    times: { type: 'boolean', default: false },
    // Runs what is in dist/, without set-up and build.
    built: { type: 'boolean', default: false },
    // The folder of the suites.
    tests: { type: 'string', default: 'test' },
  }
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    // `test/proc/recovery.test.ts` and `proc/recovery` are the same.
    const wanted = positionals.map((path) => path.replace(/^test\/|\/$|(\.test)?\.[jt]s$/g, ''))
    const unknown = wanted.find((path) => !Object.hasOwn(SUITES, suiteOf(path)))
    if (unknown !== undefined)
      throw new Error(
        `there is no suite "${unknown}"; choose from ${Object.keys(SUITES).join(', ')}, or name a file such as proc/cli`,
      )
    return { ...values, wanted }
  } catch (error) {
    console.error(`test: ${error.message}`)
    process.exit(2)
  }
}

const priorityOf = (name) => {
  const place = HEAVIEST.findIndex((path) => belongs(name, path))
  return place === -1 ? 0 : HEAVIEST.length - place
}

const sum = (results, key) => results.reduce((total, result) => total + result[key], 0)

/** Runs jobs side by side, those with the highest priority first. @returns their results, each with the name of its suite */
async function runAll(jobs) {
  const { default: PQueue } = await import('p-queue') // installed by the set-up
  // One more than there are cores: programs that wait for each other leave a quarter of the time unused.
  const cores = new PQueue({ concurrency: availableParallelism() + 1 })
  const heavy = new PQueue({ concurrency: MOST_HEAVY })
  const results = await Promise.all(
    jobs.map(async ({ suite, name, title = name, isHeavy, needs, run }) => {
      for (const need of needs) {
        const why = await missing(need)
        if (why !== null) return [{ suite, ...skip(title, why) }]
      }
      const order = { priority: priorityOf(name) }
      const onACore = () => cores.add(run, order)
      const found = await (isHeavy ? heavy.add(onACore, order) : onACore())
      return found.map((result) => ({ suite, ...result }))
    }),
  )
  return results.flat()
}

function printTimes(results) {
  console.log('\n     wall      CPU  seconds, slowest first')
  for (const { name, seconds, cpu } of results.toSorted((a, b) => b.cpu - a.cpu || b.seconds - a.seconds))
    console.log(`${seconds.toFixed(1).padStart(9)}${cpu.toFixed(1).padStart(9)}  ${name}`)
}

const { wanted, times, built, tests } = readArguments()
if (!built) await setupOrExit({ python: false })
const started = performance.now()
const jobs = jobsOf(tests, wanted, times)
const unknown = wanted.length === 0 ? HEAVIEST.filter((path) => !jobs.some(({ name }) => belongs(name, path))) : []
if (unknown.length > 0) throw new Error(`HEAVIEST in scripts/test.mjs names ${unknown.join(', ')}, which no job has`)
const results = await runAll(jobs)

for (const { name, output } of results) if (output !== undefined) console.log(`\n== FAILED ${name}\n${output}`)
for (const { name, why } of results) if (why !== undefined) console.log(`\n== SKIPPED ${name}: ${why}`)
if (times) printTimes(results)
console.log('')
for (const suite of new Set(jobs.map((job) => job.suite))) {
  const own = results.filter((result) => result.suite === suite)
  console.log(`== ${suite}: ${sum(own, 'passed')} passed, ${sum(own, 'failed')} failed, ${sum(own, 'skipped')} skipped`)
}
const [passed, failed, skipped] = ['passed', 'failed', 'skipped'].map((key) => sum(results, key))
const isForbidden = skipped > 0 && process.env.PROVE_NO_SKIPS === '1'
if (isForbidden) console.log('nothing may be skipped here (PROVE_NO_SKIPS=1)')
process.exitCode = failed > 0 || isForbidden ? 1 : 0
console.log(`in ${((performance.now() - started) / 60_000).toFixed(1)} minutes`)
console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`)
