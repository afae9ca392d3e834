import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { Bench, type FnOptions } from 'tinybench'
import { z } from 'zod'
import { CATALOGUE } from '../servers/catalogue.js'
import {
  connectInProcess,
  generateWorld,
  type McpConnection,
  type SeedWorld,
  type ServerDefinition,
  Session,
  seededRandom,
} from '../servers/kernel/index.js'
import type { BenchResult } from './result.js'

/** Calls of one scripted conversation, and the number of sessions that play it at the same time. */
const CALLS = 20
const SESSIONS = 8
/** Cheap operations per measurement, so that the clock's resolution does not count. */
const OPENS = 1000
const FORKS = 100
const TIME_MS = 250

interface Call {
  readonly name: string
  readonly args: Record<string, unknown>
}

/**
 * The worlds, without any policy: generating them, opening, forking and hashing sessions, and calling tools directly and
 * over MCP within the process. Each number comes from the median of many measurements on one thread. The yardsticks are
 * a deep copy of the world's tables per session, and the MCP SDK's own server with a tool that does nothing.
 */
export async function run(): Promise<{ results: BenchResult[] }> {
  const floor = await emptyMcpCalls()
  const results: BenchResult[] = [{ metric: 'sdk server, a tool that does nothing', value: floor, unit: 'calls/s' }]
  for (const server of CATALOGUE.values()) results.push(...(await measureWorld(server, floor)))
  return { results: results.map(rounded) }
}

async function measureWorld(server: ServerDefinition, emptyCalls: number): Promise<BenchResult[]> {
  const world = generateWorld(server, 1)
  const calls = conversation(server, world)
  const played = Session.open(world)
  play(played, calls)
  const rows = Object.fromEntries([...world.tables].map(([name, table]) => [name, table.rows]))

  let seed = 2
  const generated = await perSecond(1, () => generateWorld(server, seed++))
  const copied = await perSecond(1, () => structuredClone(rows))
  const opened = await perSecond(OPENS, () => {
    for (let i = 0; i < OPENS; i++) Session.open(world)
  })
  const forked = await perSecond(FORKS, () => {
    for (let i = 0; i < FORKS; i++) played.fork()
  })
  const hashed = await perSecond(1, () => played.stateHash())
  let session = Session.open(world)
  const direct = await perSecond(calls.length, () => play(session, calls), {
    beforeEach: () => {
      session = Session.open(world)
    },
  })
  const alone = await callsOverMcp(world, calls, 1)
  const together = await callsOverMcp(world, calls, SESSIONS)

  const copy = { peer: 'structuredClone of the tables' }
  const sdk = { peer: 'sdk server, a tool that does nothing' }
  const results: BenchResult[] = [
    { metric: 'worlds generated', value: generated, unit: 'worlds/s' },
    { metric: 'sessions opened', value: opened, unit: 'sessions/s', ...copy, ratio: opened / copied },
    { metric: `forks after ${CALLS} calls`, value: forked, unit: 'forks/s', ...copy, ratio: forked / copied },
    { metric: `state hash after ${CALLS} calls`, value: hashed, unit: 'hashes/s' },
    { metric: 'calls, direct', value: direct, unit: 'calls/s' },
    { metric: 'calls over MCP, 1 session', value: alone, unit: 'calls/s', ...sdk, ratio: alone / emptyCalls },
    { metric: `calls over MCP, ${SESSIONS} sessions`, value: together, unit: 'calls/s' },
  ]
  return results.map((result) => ({ ...result, metric: `${server.name}: ${result.metric}` }))
}

/** Successful calls of all tools in turn, each with arguments sampled from the state that the calls before it left. */
function conversation(server: ServerDefinition, world: SeedWorld): Call[] {
  const random = seededRandom(1)
  const session = Session.open(world)
  const calls: Call[] = []
  for (let turn = 0; calls.length < CALLS; turn++) {
    if (turn > 100 * CALLS) throw new Error(`${server.name} offers too few calls that succeed`)
    const tool = server.tools[turn % server.tools.length]!
    const args = session.sampleArguments(tool, random, {})
    if (args && session.call(tool.name, args).ok) calls.push({ name: tool.name, args })
  }
  return calls
}

function play(session: Session, calls: readonly Call[]): void {
  for (const { name, args } of calls) {
    const result = session.call(name, args)
    if (!result.ok) throw new Error(`${name}: ${result.message}`)
  }
}

/** Conversations at the same time, each in a session and over a connection of its own; opening them is not counted. */
async function callsOverMcp(world: SeedWorld, calls: readonly Call[], sessions: number): Promise<number> {
  const { signal } = new AbortController()
  let connections: McpConnection[] = []
  const playOver = async (connection: McpConnection): Promise<void> => {
    for (const { name, args } of calls) {
      const response = await connection.callTool(name, args, signal)
      if (!response.ok) throw new Error(`${name}: ${response.text}`)
    }
  }
  return perSecond(sessions * calls.length, async () => void (await Promise.all(connections.map(playOver))), {
    async beforeEach() {
      const fresh = Array.from({ length: sessions }, () => connectInProcess(Session.open(world)))
      connections = await Promise.all(fresh)
    },
    async afterEach() {
      await Promise.all(connections.map((connection) => connection.close()))
    },
  })
}

/** Calls per second that the SDK itself allows, in memory and with an output schema as our worlds have them. */
async function emptyMcpCalls(): Promise<number> {
  const server = new McpServer({ name: 'empty', version: '1.0.0' })
  const schema = { text: z.string() }
  server.registerTool('echo', { inputSchema: schema, outputSchema: schema }, ({ text }) => ({
    content: [{ type: 'text', text }],
    structuredContent: { text },
  }))
  const client = new Client({ name: 'bench', version: '1.0.0' })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(far), client.connect(near)])
  try {
    return await perSecond(CALLS, async () => {
      for (let i = 0; i < CALLS; i++) await client.callTool({ name: 'echo', arguments: { text: 'hello' } })
    })
  } finally {
    await client.close()
  }
}

/** Operations per second, from the median time of `run`, which does `operations` of them. */
async function perSecond(operations: number, run: () => unknown, hooks: FnOptions = {}): Promise<number> {
  const bench = new Bench({ time: TIME_MS, warmupTime: TIME_MS / 4, iterations: 8, retainSamples: true, throws: true })
  const [task] = await bench.add('run', run, hooks).run()
  if (task?.result.state !== 'completed') throw new Error('the measurement did not complete')
  return (1000 * operations) / task.result.latency.p50
}

/** Three significant digits: more would be noise. */
function rounded(result: BenchResult): BenchResult {
  const round = (value: number): number => Number(value.toPrecision(3))
  const { value, ratio } = result
  return { ...result, value: round(value), ...(ratio === undefined ? {} : { ratio: round(ratio) }) }
}
