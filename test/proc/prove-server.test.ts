import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { execa } from 'execa'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { IMPORT_LIMITS } from '../../servers/authoring/importing/index.js'
import { describeEnvironment } from '../../servers/describe.js'
import { generateSeedState, offeredTool, Session, seededRandom } from '../../servers/kernel/index.js'
import { listToolsOf } from '../../servers/kernel/mcp/list-tools.js'
import { CATALOGUE } from '../support/catalogue.js'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS, patience } from '../support/patience.js'

const program = join(checkout, 'dist', 'servers', 'episodes', 'main.js')

const run = (...args: string[]) =>
  execa(process.execPath, [program, ...args], { reject: false, timeout: PATIENCE_MS, stdin: 'ignore' })

/** Starts the program as an MCP client would, and ends it afterwards. */
async function served(args: string[], use: (client: Client, pid: number) => Promise<void>): Promise<void> {
  const transport = new StdioClientTransport({ command: process.execPath, args: [program, ...args], stderr: 'pipe' })
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transport, { timeout: PATIENCE_MS })
  try {
    await use(client, transport.pid!)
  } finally {
    await client.close()
  }
}

const call = async (client: Client, name: string, args: Record<string, unknown>) =>
  (await client.callTool({ name, arguments: args }, undefined, { timeout: PATIENCE_MS })) as CallToolResult

/** The address that the program prints when it is ready. */
async function addressIn(stderr: NodeJS.ReadableStream): Promise<string> {
  let said = ''
  for await (const chunk of stderr) {
    said += String(chunk)
    const [url] = said.match(/http:\S+/) ?? []
    if (url !== undefined) return url
  }
  throw new Error(`the server ended and said ${said}`)
}

const textOf = ({ content }: CallToolResult): string => {
  const first = content[0]
  if (first?.type !== 'text') throw new Error('the result holds no text')
  return first.text
}

// The Python client plays every tool of every world; two worlds show that the SDK's own client sees the same.
for (const name of ['banking', 'maps']) {
  const environment = CATALOGUE.get(name)!
  test(`the ${name} server lists its tools and answers as a session in process does`, () =>
    served([name, '--seed', '7'], async (client) => {
      assert.is(client.getServerVersion()!.name, name)
      const { tools } = await client.listTools(undefined, { timeout: PATIENCE_MS })
      assert.equal(
        tools.map((tool) => ({
          name: tool.name,
          description: tool.description,
          inputSchema: tool.inputSchema,
          readOnly: tool.annotations!.readOnlyHint,
        })),
        environment.tools.map((tool) => ({ ...offeredTool(tool) })),
      )
      const twin = Session.open(generateSeedState(environment, 7))
      const random = seededRandom(7)
      let succeeded = 0
      for (const tool of environment.tools) {
        const args = twin.sampleArguments(tool, random, {}) ?? {}
        const expected = twin.call(tool.name, args)
        // The client checks structured content against the listed output schema.
        const result = await call(client, tool.name, args)
        assert.is(result.isError ?? false, !expected.ok)
        if (expected.ok) {
          succeeded++
          assert.is(textOf(result), JSON.stringify(expected.output))
          assert.equal(result.structuredContent, JSON.parse(textOf(result)))
        } else {
          assert.equal(JSON.parse(textOf(result)), { error: expected.code, message: expected.message })
        }
      }
      assert.ok(succeeded > environment.tools.length / 2, `only ${succeeded} calls succeeded`)
    }))
}

test('two processes of one environment are two sessions', () =>
  served(['banking', '--seed', '3'], (ada) =>
    served(['banking', '--seed', '3'], async (bo) => {
      const twin = Session.open(generateSeedState(CATALOGUE.get('banking')!, 3))
      const args = twin.sampleArguments(CATALOGUE.get('banking')!.toolsByName.get('freeze_card')!, seededRandom(1), {})!
      const first = await call(ada, 'freeze_card', args)
      assert.is(first.isError ?? false, false)
      assert.is(textOf(await call(bo, 'freeze_card', args)), textOf(first))
      assert.is((await call(ada, 'freeze_card', args)).isError, true)
    }),
  ))

test('an unknown tool is a tool error and leaves the server running', () =>
  served(['calendar'], async (client) => {
    const failed = await call(client, 'constructor', {})
    assert.is(failed.isError, true)
    assert.is((JSON.parse(textOf(failed)) as { error: string }).error, 'unknown_tool')
    assert.ok((await client.listTools()).tools.length > 0)
  }))

test('the process ends when its client disconnects', async () => {
  let child = 0
  await served(['email'], async (_, pid) => {
    child = pid
  })
  const ended = (): boolean => {
    try {
      process.kill(child, 0)
      return false
    } catch {
      return true
    }
  }
  for (const signal = patience(); !ended(); await sleep(20))
    assert.not(signal.aborted, 'the server outlived its client')
})

test('the process ends with status 0 at the end of its input, and stdout contains only protocol messages', async () => {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [program, 'banking'], {
    reject: false,
    timeout: PATIENCE_MS,
    input: '',
  })
  assert.is(exitCode, 0)
  assert.is(stdout, '')
  assert.match(stderr, /banking, seed 0, 17 tools, MCP on stdio/)
})

test('"list", or no argument, lists the environments', async () => {
  for (const args of [[], ['list']]) {
    const { exitCode, stdout, stderr } = await run(...args)
    assert.is(exitCode, 0)
    assert.equal(
      stdout.split('\n').map((line) => line.split(' ')[0]),
      [...CATALOGUE.keys()],
    )
    const tools = [...CATALOGUE.values()].reduce((sum, environment) => sum + environment.tools.length, 0)
    assert.match(stderr, `${CATALOGUE.size} environments, ${tools} tools`)
  }
})

test('"describe" shows the tools, failures and graph of an environment', async () => {
  const { exitCode, stdout } = await run('describe', 'banking')
  assert.is(exitCode, 0)
  assert.is(stdout, describeEnvironment(CATALOGUE.get('banking')!))
  assert.is((await run('describe', 'bank')).exitCode, 2)
})

test('several environments are served together, and a repeated name has no effect', () =>
  served(['calendar', 'email', 'calendar'], async (client) => {
    const { tools } = await client.listTools(undefined, { timeout: PATIENCE_MS })
    const expected = ['calendar', 'email'].flatMap((name) => CATALOGUE.get(name)!.tools.map((tool) => tool.name))
    assert.equal(
      tools.map(({ name }) => name),
      expected,
    )
    assert.is((await call(client, 'list_calendars', {})).isError ?? false, false)
    assert.is((await call(client, 'set_auto_reply', {})).isError, true)
  }))

test('over HTTP the program prints its address, accepts a seed per client, and ends cleanly on a signal', async () => {
  const server = execa(process.execPath, [program, 'calendar', '--port', '0', '--seed', '4'], {
    reject: false,
    timeout: PATIENCE_MS,
  })
  try {
    const url = await addressIn(server.stderr)
    const answers: string[] = []
    for (const query of ['', '?seed=4', '?seed=5']) {
      const client = new Client({ name: 'test', version: '1.0.0' })
      await client.connect(new StreamableHTTPClientTransport(new URL(url + query)), { timeout: PATIENCE_MS })
      answers.push(textOf(await call(client, 'find_events', { title: 'a' })))
      await client.close()
    }
    assert.is(answers[0], answers[1])
    assert.is.not(answers[0], answers[2])
    const second = await run('email', '--port', new URL(url).port)
    assert.is(second.exitCode, 1)
    assert.match(second.stderr, /bad_listen: 127\.0\.0\.1, port \d+: .*EADDRINUSE.*choose another with --port/)
  } finally {
    server.kill('SIGTERM')
  }
  const { exitCode, stdout } = await server
  assert.is(exitCode, 0)
  assert.is(stdout, '')
})

test('a wrong port exits with status 2 and the valid range', async () => {
  for (const port of ['-1', '65536', 'http', '']) {
    const { exitCode, stderr } = await run('banking', `--port=${port}`)
    assert.is(exitCode, 2, `port "${port}"`)
    assert.match(stderr, /a port from 0 to 65535/)
  }
})

test('an unknown environment exits with status 2 and lists the names', async () => {
  for (const name of ['bank', 'constructor', '__proto__']) {
    const { exitCode, stdout, stderr } = await run(name)
    assert.is(exitCode, 2)
    assert.is(stdout, '')
    assert.match(stderr, `no environment "${name}"`)
    for (const known of CATALOGUE.keys()) assert.match(stderr, known)
  }
})

test('a wrong seed exits with status 2 and the valid range', async () => {
  for (const seed of ['-1', '1.5', 'seven', '4294967296', 'NaN', '']) {
    const { exitCode, stdout, stderr } = await run('banking', `--seed=${seed}`)
    assert.is(exitCode, 2, `seed "${seed}"`)
    assert.is(stdout, '')
    assert.match(stderr, /an integer from 0 to 4294967295/)
  }
})

test('an unknown option exits with status 2, and help with 0', async () => {
  assert.is((await run('banking', '--sead', '1')).exitCode, 2)
  const { exitCode, stdout } = await run('--help')
  assert.is(exitCode, 0)
  assert.match(stdout, /prove-server/)
})

test('play runs in the terminal, and rejects an unknown environment', async () => {
  const [played, refused] = await Promise.all([
    execa(process.execPath, [program, 'play', 'banking'], {
      input: 'open 1\ncall no_such_tool\nquit\nopen 2\n',
      timeout: PATIENCE_MS,
    }),
    run('play', 'bank'),
  ])
  assert.match(
    played.stdout,
    /^\d+ tasks\. Type "help" for the commands\.\n> .*user: .*tools: .*A> \{"error":"unknown_tool"/s,
  )
  assert.ok(played.stdout.endsWith('A> '), played.stdout)
  assert.is(refused.exitCode, 2)
  assert.match(refused.stderr, /no environment "bank"/)
})

/** Returns the command of an MCP server that answers `initialize`, and `tools/list` with `answer`. */
const listing = (answer: string): string[] => [
  process.execPath,
  '-e',
  `const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line)
    const serverInfo = { name: 'odd', version: '1' }
    if (method === 'initialize') say(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo })
    if (method === 'tools/list') (${answer})(id)
  })`,
]
const tools = (count: string) =>
  `Array.from({ length: ${count} }, (_, i) => ({ name: 't' + Math.random() + i, inputSchema: { type: 'object' } }))`

test('"import mcp" drafts an environment from a running server, and its tools return an error until they are decided', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-import-mcp-'))
  try {
    const here = { reject: false, timeout: PATIENCE_MS, stdin: 'ignore', cwd: folder } as const
    const own = [process.execPath, program, 'calendar', '--seed', '1']
    const made = await execa(process.execPath, [program, 'import', 'mcp', '--name', 'diary', ...own], here)
    assert.is(made.exitCode, 0, made.stderr)
    const calendar = CATALOGUE.get('calendar')!
    assert.match(made.stdout, `diary: ${calendar.tools.length} undecided tools`)
    const draft = join(folder, 'diary')
    await served([draft], async (client) => {
      const listed = (await client.listTools()).tools
      assert.equal(
        listed.map(({ name }) => name),
        calendar.tools.map(({ name }) => `diary_${name}`),
        'names of tools in the catalogue',
      )
      const { name } = calendar.tools.find(({ input }) =>
        Object.values(input.shape).every((field) => field.isOptional()),
      )!
      const answer = await call(client, `diary_${name}`, {})
      assert.ok(answer.isError)
      assert.is((JSON.parse(textOf(answer)) as { error: string }).error, 'undecided')
    })
    const checked = await run('check', draft)
    assert.is(checked.exitCode, 1)
    for (const { name } of calendar.tools) assert.match(checked.stdout, `diary_${name}`)
    const unnamed = await execa(process.execPath, [program, 'import', 'mcp', ...own], here)
    assert.is(unnamed.exitCode, 1)
    assert.match(unnamed.stderr, /name_taken: an environment calendar already exists/)
    const again = await execa(process.execPath, [program, 'import', 'mcp', '--name', 'diary', ...own], here)
    assert.is(again.exitCode, 1)
    assert.match(again.stderr, /name_taken: .*diary exists already and was not changed/)
  } finally {
    await rm(folder, { recursive: true })
  }
})

for (const [what, command, why] of [
  ['is none', [process.execPath, '-e', 'console.log("hello")'], /Connection closed|not valid JSON/],
  ['does not exist', ['no-such-program-anywhere'], /ENOENT/],
  [
    'never ends a line',
    listing(`() => setInterval(() => process.stdout.write('x'.repeat(1 << 20)), 1)`),
    /exceeded maximum size/,
  ],
  [
    'lists tools without end',
    listing(`(id) => say(id, { tools: ${tools('100')}, nextCursor: 'on' })`),
    /lists more than 2048 tools/,
  ],
  [
    'gives empty pages without end',
    listing(`(id) => say(id, { tools: [], nextCursor: 'on' })`),
    /a page of its list is empty/,
  ],
] as const)
  test(`an MCP server that ${what} is not listed`, async () => {
    const { listedTools, sourceBytes: bytes } = IMPORT_LIMITS
    const said = await listToolsOf(command, { tools: listedTools, bytes, signal: patience() }).then(
      () => 'it was listed',
      (error: Error) => error.message,
    )
    assert.match(said, why)
  })

const DOCUMENT = JSON.stringify({
  openapi: '3.0.3',
  info: { title: 'Shop', version: '1' },
  paths: { '/orders': { get: {} }, '/customers': { get: {} }, '/carts': { get: {} } },
})

test('"import -" reads stdin in any encoding with a byte order mark, and --only takes several texts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-import-stdin-'))
  const imported = (input: Uint8Array, ...args: string[]) =>
    execa(process.execPath, [program, 'import', ...args, '-'], { ...here, cwd: folder, input })
  const here = { reject: false, timeout: PATIENCE_MS } as const
  try {
    const texts = {
      utf8: Buffer.from(`\uFEFF${DOCUMENT}`),
      utf16: Buffer.from(`\uFEFF${DOCUMENT}`, 'utf16le'),
      utf16_big: Buffer.from(`\uFEFF${DOCUMENT}`, 'utf16le').swap16(),
    }
    for (const [name, input] of Object.entries(texts)) {
      const made = await imported(input, '--name', name, '--only', '/orders,/carts')
      assert.is(made.exitCode, 0, made.stderr)
      assert.match(made.stdout, `${name}: 2 undecided tools`)
    }
    const none = await imported(texts.utf8, '--only', 'nothing,here')
    assert.match(none.stderr, /none of the 3 calls contains "nothing" or "here"; .* like get \/orders/)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('"import" of a web address says that nothing is fetched, and how to go on', async () => {
  const { exitCode, stderr } = await run('import', 'https://example.com/openapi.json')
  assert.is(exitCode, 1)
  assert.match(stderr, /fetches nothing; .*curl -L https:\/\/example\.com\/openapi\.json \| prove-server import -/)
})

test('"import mcp" reports a failed server, and rejects one without tools', async () => {
  const failed = await run('import', 'mcp', process.execPath, '-e', 'console.log("hello")')
  assert.is(failed.exitCode, 1)
  assert.match(failed.stderr, /^prove-server: server_failed: .*node -e console\.log/)
  const empty = await run('import', 'mcp', ...listing('(id) => say(id, { tools: [] })'))
  assert.is(empty.exitCode, 1)
  assert.match(empty.stderr, /^prove-server: no_tools: the service offers no calls/)
})

test('an abort signal ends the wait for a silent server', async () => {
  const stop = new AbortController()
  const silent = [process.execPath, '-e', 'process.stdin.resume()']
  const asked = listToolsOf(silent, { tools: 1, bytes: 1, signal: stop.signal })
  stop.abort(new Error('enough'))
  const why = await asked.then(
    () => 'it was listed',
    (error: Error) => error.message,
  )
  assert.match(why, 'enough')
})

test.run()
