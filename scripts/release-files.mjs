// Keeps version and address of the project in one place: `version` and `repository` of package.json. Every other file that has them is
// a row of FILES. Usage: node scripts/release-files.mjs [--write] [--tag vX.Y.Z]
//   without an option: ends with status 1 if a file differs; --tag: also if the tag or the changelog is not that of the version
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))

/** @returns the address of the repository without an ending, and the version */
export function factsOf(packageText) {
  const { version, repository } = JSON.parse(packageText)
  return { version, url: repository.url.replace(/^git\+/, '').replace(/\.git$/, '') }
}

/** Replaces what the pattern finds after its first group. A file without it is a fault of the table. */
const after = (pattern, textOf) => (text, facts) => {
  if (!pattern.test(text)) throw new Error(`nothing fits ${pattern}`)
  return text.replace(pattern, (_, start) => `${start}${textOf(facts)}`)
}
const version = ({ version: text }) => text
const packed = after(/(prove-swarm-)\d+\.\d+\.\d+(?=\.tgz)/g, version)
const pyproject = after(/^(version = ")[^"]*/m, version)

/** Files with the version or the address, and what puts them there. */
export const FILES = {
  'package.json': [
    after(/("homepage": ")[^"#]*/, ({ url }) => url),
    after(/("bugs": \{\s*"url": ")[^"]*/, ({ url }) => `${url}/issues`),
  ],
  // Once for the file, once for the package in it.
  'package-lock.json': [after(/("name": "prove-swarm",\s*"version": ")[^"]*/g, version)],
  'prove-worlds/pyproject.toml': [
    pyproject,
    after(/^(Homepage = ")[^"]*/m, ({ url }) => `${url}/tree/main/prove-worlds`),
    after(/^(Repository = ")[^"]*/m, ({ url }) => url),
    after(/^(Issues = ")[^"]*/m, ({ url }) => `${url}/issues`),
    after(/^(Changelog = ")[^"]*/m, ({ url }) => `${url}/blob/main/CHANGELOG.md`),
  ],
  'prove-worlds/space/pyproject.toml': [pyproject],
  'prove-worlds/space/openenv.yaml': [after(/^(version: )\S*/m, version)],
  'prove-worlds/src/prove_worlds/openenv/environment.py': [after(/(version=")[^"]*/, version)],
  'prove-worlds/tests/test_install.py': [after(/(\[")\d+\.\d+\.\d+(?= prove_worlds)/, version)],
  'coordinator/trainer/prove_trainer/__init__.py': [after(/^(__version__ = ")[^"]*/m, version)],
  'CITATION.cff': [after(/^(version: )\S*/m, version), after(/^(repository-code: )\S*/m, ({ url }) => url)],
  '.github/ISSUE_TEMPLATE/config.yml': [after(/(url: )\S*(?=\/security\/advisories\/new)/, ({ url }) => url)],
  'README.md': [packed],
  'docs/start/index.md': [packed],
  'docs/start/trl.md': [packed],
  'prove-worlds/README.md': [packed],
  'prove-worlds/space/README.md': [packed],
}

/** @returns the files that differ from the facts, with the text that they should have */
export function outdated(read) {
  const facts = factsOf(read('package.json'))
  return Object.entries(FILES).flatMap(([path, changes]) => {
    const before = read(path)
    try {
      const text = changes.reduce((sofar, change) => change(sofar, facts), before)
      return text === before ? [] : [{ path, text }]
    } catch (error) {
      throw new Error(`${path}: ${error.message}: change the file, or its row in scripts/release-files.mjs`, {
        cause: error,
      })
    }
  })
}

/** @returns why this commit cannot be released under a tag */
export function faultsOfTag(tag, read) {
  const { version: own } = factsOf(read('package.json'))
  const heading = new RegExp(`^## \\[${own.replaceAll('.', '\\.')}\\] - \\d{4}-\\d\\d-\\d\\d$`, 'm')
  return [
    ...(tag === `v${own}` ? [] : [`the tag is ${tag}, and package.json has version ${own}: tag v${own}`]),
    ...(heading.test(read('CHANGELOG.md')) ? [] : [`CHANGELOG.md has no heading "## [${own}] - YYYY-MM-DD"`]),
  ]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { write: { type: 'boolean', default: false }, tag: { type: 'string' } } })
  const read = (path) => readFileSync(`${root}${path}`, 'utf8')
  const found = outdated(read)
  if (values.write) for (const { path, text } of found) writeFileSync(`${root}${path}`, text)
  const faults = [
    ...(values.write ? [] : found.map(({ path }) => `${path} is out of date: npm run docs`)),
    ...(values.tag === undefined ? [] : faultsOfTag(values.tag, read)),
  ]
  for (const fault of faults) console.error(`release-files: ${fault}`)
  process.exitCode = faults.length === 0 ? 0 : 1
}
