import * as fs from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import {
  createSeedStateCache,
  defineEnvironment,
  type Environment,
  type HttpHost,
  offerEnvironments,
  serveHttp,
  toolMaker,
} from '../../servers/kernel/index.js'
import { CATALOGUE } from '../support/catalogue.js'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS } from '../support/patience.js'

const program = join(checkout, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js')
const test = suite('the official MCP conformance suite')

/**
 * The suite wants Node.js 22 for one name that it imports, `globSync`, and calls it only to judge folders of files. Older versions get a
 * name that says so when it is called.
 */
const GLOB_SYNC = `export * from 'node:fs'
export { default } from 'node:fs'
export const globSync = () => { throw new Error('Node.js ${process.version} has no globSync') }`
const HOOKS = `export const resolve = (name, context, next) =>
  name === 'fs' && context.parentURL.includes('/conformance/')
    ? { url: ${JSON.stringify(moduleOf(GLOB_SYNC))}, shortCircuit: true }
    : next(name, context)`
const PRELOAD = `import { register } from 'node:module'; register(${JSON.stringify(moduleOf(HOOKS))})`
const preloaded = 'globSync' in fs ? [] : ['--import', moduleOf(PRELOAD)]

/** The tools that the suite's scenarios call, as a world: what the host makes of a success and of a failure. */
const failures = { intended: 'This tool intentionally returns an error for testing' }
const tool = toolMaker({}, failures)
const scenarios = defineEnvironment({
  name: 'scenarios',
  title: 'Scenarios',
  description: 'Tools that the conformance suite calls.',
  tables: {},
  entities: {},
  failures,
  tools: [
    tool({
      name: 'test_simple_text',
      description: 'Answers with a text.',
      input: z.strictObject({}),
      output: z.object({ text: z.string() }),
      annotations: { readOnly: true },
      sample: () => ({}),
      run: () => ({ text: 'This is a simple text response for testing.' }),
    }),
    tool({
      name: 'test_error_handling',
      description: 'Always fails.',
      input: z.strictObject({}),
      output: z.object({}),
      annotations: { readOnly: true },
      sample: () => ({}),
      run: (_, { fail }) => fail('intended'),
    }),
  ],
  invariants: [],
  seed: () => ({}),
})

function moduleOf(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`
}

/** The last revision with sessions of the protocol's own, and the first without. */
type Era = '2025-11-25' | '2026-07-28'

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
  readonly details?: {
    readonly result?: { readonly isError?: boolean; readonly content: readonly { text?: string }[] }
  }
}

async function checks(environments: readonly Environment[], scenario: string, era: Era): Promise<Check[]> {
  const seedStates = createSeedStateCache()
  const host: HttpHost = await serveHttp(
    offerEnvironments(environments),
    (environment) => seedStates.open(environment, 1),
    { port: 0 },
  )
  const folder = await mkdtemp(join(tmpdir(), 'prove-conformance-'))
  try {
    const asked = ['server', '--url', host.url, '--spec-version', era, '--scenario', scenario, '-o', folder]
    await execa(process.execPath, [...preloaded, program, ...asked], {
      reject: false,
      timeout: PATIENCE_MS,
      stdin: 'ignore',
    })
    const [result, ...others] = await readdir(folder)
    assert.ok(result !== undefined && others.length === 0, `${scenario} left no result`)
    return JSON.parse(await readFile(join(folder, result, 'checks.json'), 'utf8')) as Check[]
  } finally {
    await host.close()
    await rm(folder, { recursive: true })
  }
}

/** @param failing  the checks that fail, because they want what worlds have not; no others may, and each of these must */
function assertPassed(scenario: string, found: readonly Check[], failing: readonly string[] = []): void {
  assert.ok(
    found.some(({ status }) => status === 'SUCCESS'),
    `${scenario} checked nothing`,
  )
  assert.equal(
    found
      .filter(({ status }) => status === 'FAILURE')
      .map(({ id }) => id)
      .sort(),
    [...failing].sort(),
  )
  for (const { id, status, errorMessage } of found)
    assert.match(status, /^(SUCCESS|INFO|SKIPPED|FAILURE)$/, `${scenario}, ${id}: ${status} ${errorMessage}`)
}

for (const scenario of [
  'server-initialize',
  'server-session-lifecycle',
  'ping',
  'tools-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
]) {
  test(`${scenario} of 2025-11-25 passes for all worlds at one endpoint`, async () =>
    assertPassed(scenario, await checks([...CATALOGUE.values()], scenario, '2025-11-25')))
}

for (const [scenario, failing] of Object.entries({
  // A tool `test_missing_capability` is called that the suite wants servers to have.
  'server-stateless': ['sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400'],
  'http-header-validation': [],
  'tools-list': [],
  'server-sse-multiple-streams': [],
  'dns-rebinding-protection': [],
  // Neither prompts nor resources are offered.
  caching: [
    'sep-2549-prompts-list-caching-hints',
    'sep-2549-resources-list-caching-hints',
    'sep-2549-resources-templates-list-caching-hints',
  ],
})) {
  test(`${scenario} of 2026-07-28 passes for all worlds at one endpoint${failing.length > 0 ? ', but for what they have not' : ''}`, async () =>
    assertPassed(scenario, await checks([...CATALOGUE.values()], scenario, '2026-07-28'), failing))
}

// These two pass with a missing tool as well, so what was answered is looked at.
test('tools-call-simple-text passes, and the tool was called', async () => {
  const found = await checks([scenarios], 'tools-call-simple-text', '2025-11-25')
  assertPassed('tools-call-simple-text', found)
  const { isError, content } = found[0]!.details!.result!
  assert.is(isError ?? false, false)
  assert.is(content[0]!.text, JSON.stringify({ text: 'This is a simple text response for testing.' }))
})

test('tools-call-error passes with a declared failure', async () => {
  const found = await checks([scenarios], 'tools-call-error', '2025-11-25')
  assertPassed('tools-call-error', found)
  const { isError, content } = found[0]!.details!.result!
  assert.is(isError, true)
  assert.is(content[0]!.text, JSON.stringify({ error: 'intended', message: failures.intended }))
})

test.run()
