import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkout } from '../../support/checkout.js'

type Read = (path: string) => string
interface ReleaseFiles {
  readonly FILES: Readonly<Record<string, unknown>>
  outdated(read: Read): { readonly path: string; readonly text: string }[]
  faultsOfTag(tag: string, read: Read): string[]
}
interface LintWorkflows {
  faultsOf(text: string, of: { scripts: Record<string, string>; exists(path: string): boolean }): string[]
}

const script = async <T>(name: string): Promise<T> =>
  (await import(pathToFileURL(join(checkout, 'scripts', name)).href)) as T
const { FILES, outdated, faultsOfTag } = await script<ReleaseFiles>('release-files.mjs')
const { faultsOf } = await script<LintWorkflows>('lint-workflows.mjs')
const read: Read = (path) => readFileSync(join(checkout, path), 'utf8')

test('version and address are everywhere those of package.json', () => {
  assert.equal(outdated(read), [])
})

test('a new version and another address reach every file', () => {
  const changed = read('package.json')
    .replace('"version": "0.1.0"', '"version": "7.8.9"')
    .replace('git+https://github.com/prove-swarm/prove-swarm.git', 'git+https://example.org/ada/swarm.git')
  const found = outdated((path) => (path === 'package.json' ? changed : read(path)))
  assert.equal(found.map(({ path }) => path).sort(), Object.keys(FILES).sort())
  for (const { path, text } of found) assert.match(text, /7\.8\.9|example\.org\/ada\/swarm/, path)
})

test('a tag of another version, and a changelog without the release, are faults', () => {
  const of = (tag: string, changelog: string): string[] =>
    faultsOfTag(tag, (path) => (path === 'CHANGELOG.md' ? changelog : read(path)))
  assert.equal(of('v0.1.0', '## [0.1.0] - 2026-12-01\n'), [])
  assert.is(of('v0.2.0', '## [Unreleased]\n').length, 2)
})

const FLOW = `
permissions:
  contents: read
jobs:
  test:
    timeout-minutes: 5
    steps:
      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2
      - run: npm run setup
`
const faults = (text: string): string => faultsOf(text, { scripts: { setup: '' }, exists: () => false }).join('\n')

test('a workflow has to pin its actions, bound its jobs, and run scripts of the repository', () => {
  assert.is(faults(FLOW), '')
  assert.match(faults(FLOW.replace(/@\w{40}/, '@v4')), /line 8: pin the action/)
  assert.match(faults(FLOW.replace('    timeout-minutes: 5\n', '')), /job test: give timeout-minutes/)
  assert.match(faults(FLOW.replace('npm run setup', 'npm run deploy')), /there is no script deploy/)
  assert.match(faults(FLOW.replace('npm run setup', '.ci/walk unit')), /there is no file \.ci\/walk/)
  assert.match(faults(FLOW.replace('npm run setup', `echo $\{{ github.head_ref }}`)), /by env/)
  assert.match(faults(FLOW.replace('permissions:\n  contents: read\n', '')), /give permissions/)
})

test.run()
