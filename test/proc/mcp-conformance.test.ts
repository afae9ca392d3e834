import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { CATALOGUE } from '../../servers/catalogue.js'
import {
  createWorldCache,
  defineServer,
  type HttpHost,
  offerWorlds,
  type ServerDefinition,
  serveHttp,
  toolMaker,
} from '../../servers/kernel/index.js'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS } from '../support/patience.js'

const program = join(checkout, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js')
const test = suite('the official MCP conformance suite')

/** The tools that the suite's scenarios call, as a world: what the host makes of a success and of a failure. */
const failures = { intended: 'This tool intentionally returns an error for testing' }
const tool = toolMaker({}, failures)
const scenarios = defineServer({
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
      ask: ['say something'],
      sample: () => ({}),
      run: () => ({ text: 'This is a simple text response for testing.' }),
    }),
    tool({
      name: 'test_error_handling',
      description: 'Always fails.',
      input: z.strictObject({}),
      output: z.object({}),
      annotations: { readOnly: true },
      ask: ['fail'],
      sample: () => ({}),
      run: (_, { fail }) => fail('intended'),
    }),
  ],
  invariants: [],
  seed: () => ({}),
})

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
  readonly details?: {
    readonly result?: { readonly isError?: boolean; readonly content: readonly { text?: string }[] }
  }
}

async function checks(servers: readonly ServerDefinition[], scenario: string): Promise<Check[]> {
  const worlds = createWorldCache()
  const host: HttpHost = await serveHttp(offerWorlds(servers), (server) => worlds.open(server, 1), { port: 0 })
  const folder = await mkdtemp(join(tmpdir(), 'prove-conformance-'))
  try {
    await execa(process.execPath, [program, 'server', '--url', host.url, '--scenario', scenario, '-o', folder], {
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

function assertPassed(scenario: string, found: readonly Check[]): void {
  assert.ok(
    found.some(({ status }) => status === 'SUCCESS'),
    `${scenario} checked nothing`,
  )
  for (const { id, status, errorMessage } of found)
    assert.ok(status === 'SUCCESS' || status === 'INFO', `${scenario}, ${id}: ${status} ${errorMessage}`)
}

for (const scenario of [
  'server-initialize',
  'ping',
  'tools-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
]) {
  test(`${scenario} passes for all worlds at one endpoint`, async () =>
    assertPassed(scenario, await checks([...CATALOGUE.values()], scenario)))
}

// These two pass with a missing tool as well, so what was answered is looked at.
test('tools-call-simple-text passes, and the tool was really called', async () => {
  const found = await checks([scenarios], 'tools-call-simple-text')
  assertPassed('tools-call-simple-text', found)
  const { isError, content } = found[0]!.details!.result!
  assert.is(isError ?? false, false)
  assert.is(content[0]!.text, JSON.stringify({ text: 'This is a simple text response for testing.' }))
})

test('tools-call-error passes with the failure that the tool declared', async () => {
  const found = await checks([scenarios], 'tools-call-error')
  assertPassed('tools-call-error', found)
  const { isError, content } = found[0]!.details!.result!
  assert.is(isError, true)
  assert.is(content[0]!.text, JSON.stringify({ error: 'intended', message: failures.intended }))
})

test.run()
