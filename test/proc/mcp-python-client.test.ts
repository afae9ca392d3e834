import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { z } from 'zod'
import { CATALOGUE } from '../../servers/catalogue.js'
import {
  createWorldCache,
  deriveSeed,
  generateWorld,
  offerWorlds,
  requiredReferences,
  type ServerDefinition,
  Session,
  seededRandom,
  serveHttp,
  type ToolDefinition,
} from '../../servers/kernel/index.js'
import { checkout } from '../checkout.js'

const TIMEOUT_MS = 300_000
const python = join(checkout, '.venv', 'bin', 'python')
const test = suite('an independent MCP client, in Python')
const worlds = createWorldCache()

interface ScriptedCall {
  readonly tool: string
  readonly arguments: Record<string, unknown>
  readonly error: boolean
  readonly text: string | null
  readonly hash: string
}

interface Script {
  readonly server: ServerDefinition
  readonly seed: number
  readonly calls: readonly ScriptedCall[]
  readonly succeeded: ReadonlySet<string>
}

/** Rounds over the tools of a world, after which each must have had a chance to succeed. */
const ROUNDS = 12

/**
 * Calls of every tool: with arguments from the state that the calls before it left, until one succeeds, and once each
 * with a missing, a wrongly typed, an undeclared and a made-up argument.
 */
function scriptOf(server: ServerDefinition, seed: number): Script {
  const session = Session.open(generateWorld(server, seed))
  const random = seededRandom(deriveSeed('script', server.name, seed))
  const calls: ScriptedCall[] = []
  const succeeded = new Set<string>()
  const play = (tool: ToolDefinition, args: Record<string, unknown>, compareText = true): boolean => {
    const result = session.call(tool.name, args)
    const error = { error: result.ok ? '' : result.code, message: result.ok ? '' : result.message }
    const text = JSON.stringify(result.ok ? result.output : error)
    calls.push({
      tool: tool.name,
      arguments: args,
      error: !result.ok,
      text: compareText ? text : null,
      hash: session.stateHash(),
    })
    return result.ok
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const tool of server.tools) {
      if (succeeded.has(tool.name)) continue
      const args = session.sampleArguments(tool, random, {})
      if (args && play(tool, args)) succeeded.add(tool.name)
    }
  }
  for (const tool of server.tools) for (const args of wrongArguments(session, tool)) refuses(session, tool, args, play)
  return { server, seed, calls, succeeded }
}

function refuses(
  session: Session,
  tool: ToolDefinition,
  args: Record<string, unknown>,
  play: (tool: ToolDefinition, args: Record<string, unknown>) => boolean,
): void {
  const before = session.stateHash()
  assert.is(play(tool, args), false, `${tool.name} accepted ${JSON.stringify(args)}`)
  assert.is(session.stateHash(), before, `${tool.name} changed the state although it failed`)
}

function wrongArguments(session: Session, tool: ToolDefinition): Record<string, unknown>[] {
  const fields = Object.entries(tool.input.shape) as [string, z.ZodType][]
  const good = session.sampleArguments(tool, seededRandom(1), {}) ?? {}
  const wrong: Record<string, unknown>[] = [{ ...good, no_such_argument: 1 }]
  const required = fields.find(([, field]) => !field.isOptional())
  if (required) wrong.push(Object.fromEntries(Object.entries(good).filter(([name]) => name !== required[0])))
  if (fields[0]) wrong.push({ ...good, [fields[0][0]]: { not: 'this' } })
  const [reference] = requiredReferences(tool.input).keys()
  const complete = fields.every(([name, field]) => field.isOptional() || name in good)
  // A reference to nothing is a failure of the world, where there is one to make.
  if (reference !== undefined && complete && typeof good[reference] === 'string')
    wrong.push({ ...good, [reference]: 'no-such-thing-404' })
  return wrong
}

/** For every world a seed on which each of its tools can succeed. */
function scripts(): Script[] {
  return [...CATALOGUE.values()].map((server) => {
    for (let seed = 1; seed <= 20; seed++) {
      const script = scriptOf(server, seed)
      if (script.succeeded.size === server.tools.length) return script
    }
    throw new Error(`${server.name}: on no seed did every tool succeed`)
  })
}

async function playWithPython(
  connections: readonly Record<string, unknown>[],
): Promise<{ listed: number; called: number }> {
  assert.ok(existsSync(python), 'the Python packages are missing: run node scripts/setup.mjs --tests')
  const { stdout } = await execa(python, [join(checkout, 'test', 'proc', 'mcp_client.py')], {
    input: JSON.stringify({ connections }),
    timeout: TIMEOUT_MS,
  })
  return JSON.parse(stdout) as { listed: number; called: number }
}

const played = scripts()
const expectedTools = [...CATALOGUE.values()].reduce((sum, { tools }) => sum + tools.length, 0)
const expectedCalls = played.reduce((sum, { calls }) => sum + calls.length, 0)
const namesOf = (servers: readonly ServerDefinition[]): string[] =>
  servers.flatMap(({ tools }) => tools.map(({ name }) => name))

test('gets the answers and states of a session in process from every tool over stdio', async () => {
  const connections = played.map(({ server, seed, calls }) => ({
    name: server.name,
    stdio: [process.execPath, join(checkout, 'dist', 'servers', 'main.js'), server.name, '--seed', String(seed)],
    tools: namesOf([server]),
    calls,
  }))
  assert.equal(await playWithPython(connections), { listed: expectedTools, called: expectedCalls })
})

test('gets the same over HTTP, where one endpoint offers all worlds page by page', async () => {
  const servers = [...CATALOGUE.values()]
  const host = await serveHttp(offerWorlds(servers), (server, seed = 0) => worlds.open(server, seed), { port: 0 })
  try {
    const connections = played.map(({ server, seed, calls }) => ({
      name: server.name,
      http: `${host.url}?seed=${seed}`,
      tools: namesOf(servers),
      calls,
    }))
    assert.equal(await playWithPython(connections), {
      listed: expectedTools * servers.length,
      called: expectedCalls,
    })
  } finally {
    await host.close()
  }
})

test.run()
