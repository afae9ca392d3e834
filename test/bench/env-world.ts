import type { Environment } from '../../servers/kernel/index.js'
import {
  connectInProcess,
  generateSeedState,
  type McpConnection,
  type SeedState,
  Session,
} from '../../servers/kernel/index.js'
import { type Call, conversation, microseconds, play } from './env-measure.js'

/** Number of cheap operations per run, so that the clock's resolution does not matter. */
const OPENS = 1000
const FORKS = 100

/** Measurements of every environment, in the order of the report. */
export const UNITS = {
  /** Direct calls, arguments and results validated. */
  calls_per_s: 'calls/s',
  /** Sessions opened on a seed that is in memory. */
  opens_per_s: 'opens/s',
  /** Copies of a session after a conversation. */
  forks_per_s: 'forks/s',
  /** Seed states generated from a new seed, every row validated. */
  new_seed_ms: 'ms',
  /** The first `stateHash()` of a session, after a conversation that ends with a write. */
  hash_us: 'µs',
  /** Calls over MCP within the process, arguments and results validated by the environment. */
  mcp_calls_per_s: 'calls/s',
} as const

export type Metric = keyof typeof UNITS

export async function measureEnvironment(environment: Environment): Promise<Record<Metric, number>> {
  const seedState = generateSeedState(environment, 1)
  const calls = conversation(seedState)
  const played = Session.open(seedState)
  play(played, calls)

  let session = Session.open(seedState)
  const reopen = (): void => {
    session = Session.open(seedState)
  }
  const replay = (): void => {
    reopen()
    play(session, calls)
  }
  let seed = 2
  const call = await microseconds(calls.length, () => play(session, calls), { beforeEach: reopen, warmup: 4000 })
  const openMany = (): void => {
    for (let i = 0; i < OPENS; i++) Session.open(seedState)
  }
  const open = await microseconds(OPENS, openMany, { warmup: 50 })
  const forkMany = (): void => {
    for (let i = 0; i < FORKS; i++) played.fork()
  }
  const fork = await microseconds(FORKS, forkMany, { warmup: 500 })
  const generated = await microseconds(1, () => generateSeedState(environment, seed++), { warmup: 100 })
  const hash = await microseconds(1, () => session.stateHash(), { beforeEach: replay, warmup: 2000 })
  return {
    calls_per_s: 1e6 / call,
    opens_per_s: 1e6 / open,
    forks_per_s: 1e6 / fork,
    new_seed_ms: generated / 1000,
    hash_us: hash,
    mcp_calls_per_s: 1e6 / (await callOverMcp(seedState, calls)),
  }
}

/** Returns microseconds per call of one conversation over a new connection, without the time to open it. */
async function callOverMcp(seedState: SeedState, calls: readonly Call[]): Promise<number> {
  const { signal } = new AbortController()
  let connection: McpConnection | undefined
  const converse = async (): Promise<void> => {
    for (const { name, args } of calls) {
      const response = await connection!.callTool(name, args, signal)
      if (!response.ok) throw new Error(`${name}: ${response.text}`)
    }
  }
  return microseconds(calls.length, converse, {
    warmup: 200,
    async beforeEach() {
      connection = await connectInProcess(Session.open(seedState))
    },
    async afterEach() {
      await connection!.close()
    },
  })
}
