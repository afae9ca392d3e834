// needs: python

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { z } from 'zod'
import {
  createSeedStateCache,
  deriveSeed,
  type Environment,
  generateSeedState,
  offerEnvironments,
  requiredReferences,
  type SeededRandom,
  Session,
  seededRandom,
  serveHttp,
  type ToolDefinition,
} from '../../servers/kernel/index.js'
import { CATALOGUE } from '../support/catalogue.js'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS } from '../support/patience.js'

const python = join(checkout, '.venv', 'bin', 'python')
const test = suite('an independent MCP client, in Python')
const seedStates = createSeedStateCache()

interface ScriptedCall {
  readonly tool: string
  readonly arguments: Record<string, unknown>
  readonly error: boolean
  readonly text: string
  readonly hash: string
}

/** Calls a tool in the script's session and notes the answer. @returns whether it succeeded */
type Play = (tool: ToolDefinition, args: Record<string, unknown>) => boolean

interface Script {
  readonly environment: Environment
  readonly seed: number
  readonly session: Session
  readonly calls: readonly ScriptedCall[]
  readonly succeeded: ReadonlySet<string>
  readonly play: Play
}

/** Rounds over the tools of a world before another seed is tried. */
const ROUNDS = 40
const SEEDS = 40

/**
 * Calls of every tool in `wanted`: with arguments from the state that the calls before it left, until one succeeds. Other
 * tools are called in between, because some states have to be brought about.
 */
function scriptOf(environment: Environment, seed: number, wanted: ReadonlySet<string>): Script {
  const session = Session.open(generateSeedState(environment, seed))
  const random = seededRandom(deriveSeed('script', environment.name, seed))
  const calls: ScriptedCall[] = []
  const succeeded = new Set<string>()
  const play: Play = (tool, args) => {
    const result = session.call(tool.name, args)
    const text = result.ok ? result.output : { error: result.code, message: result.message }
    calls.push({
      tool: tool.name,
      arguments: args,
      error: !result.ok,
      text: JSON.stringify(text),
      hash: session.stateHash(),
    })
    return result.ok
  }
  const open = () => environment.tools.filter(({ name }) => wanted.has(name) && !succeeded.has(name))
  for (let round = 0; round < ROUNDS && open().length > 0; round++) {
    for (const tool of open().flatMap((missing) => [...preparing(environment, missing, random), missing])) {
      const args = session.sampleArguments(tool, random, {})
      if (args && play(tool, args)) succeeded.add(tool.name)
    }
  }
  return { environment, seed, calls, succeeded, session, play }
}

/** What makes the facts true that a tool needs, and what those tools need themselves. */
function preparing(environment: Environment, tool: ToolDefinition, random: SeededRandom, depth = 5): ToolDefinition[] {
  if (depth === 0) return []
  return (tool.needs ?? []).flatMap((fact) => {
    const sources = environment.tools.filter(({ establishes }) => establishes?.includes(fact))
    if (sources.length === 0) return []
    const source = random.pick(sources)
    return [...preparing(environment, source, random, depth - 1), source]
  })
}

/** Adds a call with a missing, a wrongly typed, an undeclared and a made-up argument for each tool. */
function addWrongCalls({ environment, session, play }: Script): void {
  for (const tool of environment.tools)
    for (const args of wrongArguments(session, tool)) refuses(session, tool, args, play)
}

function refuses(session: Session, tool: ToolDefinition, args: Record<string, unknown>, play: Play): void {
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
  const reference = requiredReferences(tool.input)[0]?.[0]
  const complete = fields.every(([name, field]) => field.isOptional() || name in good)
  // A reference to nothing is a failure of the world, where there is one to make.
  if (reference !== undefined && complete && typeof good[reference] === 'string')
    wrong.push({ ...good, [reference]: 'no-such-thing-404' })
  return wrong
}

/** For every world as many seeds as it takes until each of its tools has succeeded. */
function scripts(): Script[] {
  return [...CATALOGUE.values()].flatMap((environment) => {
    const wanted = new Set(environment.tools.map(({ name }) => name))
    const made: Script[] = []
    for (let seed = 1; seed <= SEEDS && wanted.size > 0; seed++) {
      const script = scriptOf(environment, seed, wanted)
      if (![...script.succeeded].some((name) => wanted.has(name))) continue
      for (const name of script.succeeded) wanted.delete(name)
      made.push(script)
    }
    if (wanted.size > 0) throw new Error(`${environment.name}: ${[...wanted].join(', ')} succeeded on no seed`)
    addWrongCalls(made[0]!)
    return made
  })
}

async function playWithPython(
  connections: readonly Record<string, unknown>[],
): Promise<{ listed: number; called: number }> {
  assert.ok(existsSync(python), 'the Python packages are missing: run node scripts/setup.mjs --tests')
  const { stdout } = await execa(python, [join(checkout, 'test', 'proc', 'mcp_client.py')], {
    input: JSON.stringify({ connections }),
    timeout: 3 * PATIENCE_MS,
  })
  return JSON.parse(stdout) as { listed: number; called: number }
}

const played = scripts()
const expectedCalls = played.reduce((sum, { calls }) => sum + calls.length, 0)
const listedBy = (connections: readonly { readonly tools: readonly string[] }[]): number =>
  connections.reduce((sum, { tools }) => sum + tools.length, 0)
const namesOf = (environments: readonly Environment[]): string[] =>
  environments.flatMap(({ tools }) => tools.map(({ name }) => name))

test('the Python client gets the results and states of an in-process session from every tool over stdio', async () => {
  const connections = played.map(({ environment, seed, calls }) => ({
    name: environment.name,
    stdio: [
      process.execPath,
      join(checkout, 'dist', 'servers', 'episodes', 'main.js'),
      environment.name,
      '--seed',
      String(seed),
    ],
    mode: 'legacy',
    tools: namesOf([environment]),
    calls,
  }))
  assert.equal(await playWithPython(connections), { listed: listedBy(connections), called: expectedCalls })
})

test('the Python client gets the same over HTTP, where one endpoint offers all environments page by page', async () => {
  const environments = [...CATALOGUE.values()]
  const host = await serveHttp(
    offerEnvironments(environments),
    (environment, seed = 0) => seedStates.open(environment, seed),
    { port: 0 },
  )
  try {
    const connections = played.map(({ environment, seed, calls }) => ({
      name: environment.name,
      http: `${host.url}?seed=${seed}`,
      mode: '2026-07-28',
      tools: ['open', 'fork', 'diff', 'close', ...namesOf(environments)],
      calls,
    }))
    assert.equal(await playWithPython(connections), { listed: listedBy(connections), called: expectedCalls })
  } finally {
    await host.close()
  }
})

test.run()
