// The test suites: which jobs they consist of, and what each job needs of the machine.
import { existsSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { counterpartJobs } from '../counterparts/suite.mjs'
import { root } from '../processes.mjs'
import { check, failure, pytest, uvuFiles } from './jobs.mjs'
import { needsOf } from './needs.mjs'
import { MAJORS, testUnder } from './node-versions.mjs'

const TRAINER = 'coordinator/trainer'
const WORLDS = 'prove-worlds'
const bin = (name) => `${root}node_modules/.bin/${name}`

/** Files per process in suites whose files import much of the same code and leave nothing behind: loading takes longer than most tests. */
const BATCH = 10

/** Whether a path such as `unit/reward/score` is, or is below, what `unit`, `unit/reward` or `unit/reward/score` names. */
export const belongs = (file, path) => file === path || file.startsWith(`${path}/`)

/**
 * Returns the jobs that run wanted files of a suite.
 * @param folder  where the suites are, relative to the checkout
 * @param paths   the wanted files, and folders of files
 * @param size    files per process; 1 where listeners, timers or children of one file could disturb another
 */
function files(folder, suite, paths, size) {
  const all = readdirSync(`${root}${folder}/${suite}`, { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${suite}/${name.slice(0, -'.test.ts'.length)}`)
    .sort()
  const unknown = paths.filter((path) => !all.some((file) => belongs(file, path)))
  const wanted = all.filter((file) => paths.some((path) => belongs(file, path)))
  return [
    ...unknown.map((name) => ({ name, needs: [], run: async () => [failure(name, 'there is no such test file')] })),
    ...batchesOf(folder, wanted, size).map(({ batch, needs, invalid }) => ({
      name: batch[0],
      needs,
      run: invalid
        ? async () => [failure(batch[0], invalid)]
        : () => uvuFiles(batch.map((file) => `dist/${folder}/${file}.test.js`)),
    })),
  ]
}

/** Joins files of the same folder, which import the same code, and need nothing. A file with needs gets a separate process. */
function batchesOf(folder, names, size) {
  const batches = []
  for (const name of names) {
    const last = batches.at(-1)
    const { needs, invalid } = declared(`${root}${folder}/${name}.test.ts`)
    const isAlone = needs.length > 0 || invalid !== null
    if (last && !isAlone && last.isOpen && last.batch.length < size && dirname(last.batch[0]) === dirname(name))
      last.batch.push(name)
    else batches.push({ batch: [name], needs, invalid, isOpen: !isAlone })
  }
  return batches
}

function declared(path) {
  try {
    return { needs: needsOf(path), invalid: null }
  } catch (error) {
    return { needs: [], invalid: error.message }
  }
}

const command = (title, needs, name, args) => ({
  ...{ name: 'checks', title: `checks (${title})`, needs },
  run: async () => [await check(name, args)],
})

/**
 * What each suite runs, given a folder of suites, the wanted paths and the number of files per process. A suite that is not `byDefault`
 * runs only where it is named.
 */
export const SUITES = {
  checks: {
    jobs: () => [
      command('biome', [], bin('biome'), ['ci', '--colors=off', '.']),
      command('prose', [], process.execPath, ['scripts/prose.mjs']),
      command('docs', [], process.execPath, ['scripts/docs-links.mjs']),
      command('imports', [], 'npm', ['run', '--silent', 'imports']),
      command('workflows', [], process.execPath, ['scripts/lint-workflows.mjs']),
      command('release files', [], process.execPath, ['scripts/release-files.mjs']),
      command('ruff', ['python'], process.execPath, ['scripts/lint-python.mjs']),
      ...[TRAINER, WORLDS].map((folder) =>
        command(`pyright ${folder}`, ['python'], bin('pyright'), [
          '-p',
          `${folder}/pyproject.toml`,
          '--pythonpath',
          '.venv/bin/python',
        ]),
      ),
    ],
  },
  unit: { batch: BATCH },
  environments: { batch: BATCH },
  // Files of a folder share their samples.
  synthesis: { batch: BATCH },
  property: { batch: 1 },
  swarm: { batch: 1 },
  // Programs have a coordinator, its trainer, audits and volunteers: up to 2 GB of memory.
  proc: { batch: 1, isHeavy: true },
  // One run each: the folders have files of the same names.
  trainer: {
    jobs: () =>
      [`${TRAINER}/tests`, 'scripts/build-demo-model/tests', `${WORLDS}/tests`].map((folder) => ({
        name: 'trainer',
        title: folder,
        needs: ['python'],
        run: async () => [await pytest(folder)],
      })),
  },
  // `counterparts/trl` names one row.
  counterparts: { jobs: counterpartJobs },
  release: {
    jobs: () => [
      {
        name: 'release',
        needs: ['python', 'npm-registry'],
        run: async () => [await check(process.execPath, ['scripts/release-check.mjs'])],
      },
      {
        ...{ name: 'release', title: 'release (docs)', needs: ['npm-registry'] },
        run: async () => [await check(process.execPath, ['scripts/docs-site.mjs'])],
      },
    ],
  },
  // `node-versions/22` names one major version; without, it is the newest.
  'node-versions': {
    jobs: (paths) => {
      const wanted = MAJORS.filter((major) => paths.some((path) => path === `node-versions/${major}`))
      return (wanted.length > 0 ? wanted : MAJORS.slice(-1)).map((major) => ({
        name: 'node-versions',
        title: `node-versions/${major}`,
        needs: ['python', 'npm-registry'],
        run: () => testUnder(major),
      }))
    },
  },
  // Two minutes of a core for llama.cpp's shaders: nightly.
  gpu: { batch: 1, byDefault: false },
  // Installs 400 MB of Python packages: nightly.
  bfcl: { batch: 1, byDefault: false },
}

export const suiteOf = (path) => path.split('/')[0]

/** Returns the jobs of all wanted paths, each with the name of its suite. @param alone  runs each file in a separate process */
export function jobsOf(folder, wanted, alone) {
  return Object.entries(SUITES).flatMap(([suite, { jobs, batch, isHeavy = false, byDefault = true }]) => {
    const paths = wanted.length === 0 && byDefault ? [suite] : wanted.filter((path) => suiteOf(path) === suite)
    if (paths.length === 0 || (!jobs && !existsSync(`${root}${folder}/${suite}`))) return []
    const made = jobs ? jobs(paths, wanted.length > 0) : files(folder, suite, paths, alone ? 1 : batch)
    return made.map((job) => ({ isHeavy, ...job, suite }))
  })
}
