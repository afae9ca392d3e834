import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request as ask } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pLimit from 'p-limit'
import { writeDemoTasks } from '../support/demo-tasks.js'
import { type Load, type Tau2Peer, tau2Peer } from './episode-peers.js'
import type { BenchResult } from './result.js'
import { type ServedProgram, startServer } from './served-program.js'

const AT_ONCE = [1, 100, 1000]
const TASKS = 64
/** Number of concurrent requests, and of open connections, for any number of episodes. */
const CONNECTIONS = 16
/** Requests per played episode: open, two actions, score, close. */
const REQUESTS = 5
/** Number of requests to a server with a single environment. */
const CALLS = 1000
/** Number of open episodes. With fewer, garbage collection would hide their memory. */
const LEAST_FOR_MEMORY = 1000
const LONGEST_MS = 60_000
/** Root of the checkout, relative to the compiled file. */
const program = fileURLToPath(new URL('../../servers/episodes/main.js', import.meta.url))

/**
 * Measures `prove-server env` as trainers use it, in a separate process: memory per open episode, and episodes opened, played and closed
 * per second while many are open. One client with some connections sends HTTP requests, so the times include its work. Where
 * `PROVE_BENCH_TAU2` names a checkout, compares tau2-bench's environment and its server.
 */
export async function run(): Promise<{ versions: Readonly<Record<string, string>>; results: BenchResult[] }> {
  const tau2 = await tau2Peer()
  const folder = await mkdtemp(join(tmpdir(), 'prove-bench-episodes-'))
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const results: BenchResult[] = []
  try {
    const tasks = join(folder, 'tasks')
    await writeDemoTasks(tasks, TASKS, 1)
    const ours: Load[] = []
    for (const episodes of AT_ONCE) {
      ours.push(await withServer(ourServer(tasks), (server) => overHttp(server, episodes, agent)))
      results.push(...resultsOf(`${episodes} at once`, episodes, ours.at(-1)!))
    }
    if (tau2 !== undefined) results.push(...(await besideTau2(tau2, agent, ours.at(-1)!)))
  } finally {
    agent.destroy()
    await rm(folder, { recursive: true })
  }
  return {
    versions: tau2 === undefined ? {} : { 'tau2-bench': tau2.version },
    results,
  }
}

const ourServer = (tasks: string): Promise<ServedProgram> =>
  startServer(process.execPath, [program, 'env', '--dataset', tasks, '--port', '0', '--end-with-stdin'])

async function withServer<T>(starting: Promise<ServedProgram>, use: (server: ServedProgram) => Promise<T>): Promise<T> {
  const server = await starting
  try {
    return await use(server)
  } finally {
    await server.close()
  }
}

async function overHttp({ origin, memory }: ServedProgram, episodes: number, agent: Agent): Promise<Load> {
  const send = (method: string, path: string, body?: object) => answerOf(agent, `${origin}${path}`, method, body)
  const limit = pLimit(CONNECTIONS)
  const all = <T>(work: (index: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: episodes }, (_, index) => limit(() => work(index))))
  const open = async (index: number) =>
    ((await send('POST', '/episodes', { index: index % TASKS })) as { episode: string }).episode
  // Every task once: this generates the seed states and compiles the schemas, which is not the cost of an episode.
  for (let index = 0; index < TASKS; index++) await send('DELETE', `/episodes/${await open(index)}`)
  const before = await memory()

  const began = performance.now()
  const ids = await all(open)
  const opened = performance.now()
  const full = await memory()
  const goOn = performance.now()
  await all(async (index) => {
    const path = `/episodes/${ids[index]!}`
    await send('POST', `${path}/actions`, { calls: [{ name: 'no_such_tool', arguments: {} }] })
    await send('POST', `${path}/actions`, { text: 'Done.' })
    await send('GET', path)
    await send('DELETE', path)
  })
  const seconds = (opened - began + performance.now() - goOn) / 1000
  return { episodesPerS: episodes / seconds, memoryBytes: (full - before) / episodes }
}

function resultsOf(at: string, episodes: number, { episodesPerS, memoryBytes }: Load): BenchResult[] {
  return [
    { metric: `episodes, ${at}`, value: rounded(episodesPerS), unit: 'per s' },
    { metric: `requests, ${at}`, value: rounded(REQUESTS * episodesPerS), unit: 'per s' },
    ...(episodes < LEAST_FOR_MEMORY
      ? []
      : [{ metric: `memory of an episode, ${at}`, value: rounded(memoryBytes / 1024), unit: 'KiB' }]),
  ]
}

/** Measures tau2's environment in one process without a server, and its server, which has a single environment: requests, not episodes. */
async function besideTau2(peer: Tau2Peer, agent: Agent, ours: Load): Promise<BenchResult[]> {
  const { episodesPerS, memoryBytes } = await peer.episodes()
  const call = (origin: string) => answerOf(agent, `${origin}/tools/get_user_details`, 'POST', { user_id: peer.user })
  const callsPerS = await withServer(peer.start(), async ({ origin }) => {
    const limit = pLimit(CONNECTIONS)
    const round = () => Promise.all(Array.from({ length: CALLS }, () => limit(() => call(origin))))
    await round()
    const began = performance.now()
    await round()
    return (1000 * CALLS) / (performance.now() - began)
  })
  const alone = "tau2's retail environment, in its own process"
  return [
    compared('episodes', 'per s', ours.episodesPerS, episodesPerS, alone),
    compared('memory of an episode', 'KiB', ours.memoryBytes / 1024, memoryBytes / 1024, alone),
    compared('requests', 'per s', REQUESTS * ours.episodesPerS, callsPerS, "tau2's server of one environment"),
  ]
}

function compared(metric: string, unit: string, ours: number, theirs: number, peer: string): BenchResult {
  return {
    metric,
    value: rounded(ours),
    unit,
    peer: `${rounded(theirs)} ${unit}, ${peer}`,
    ratio: rounded(ours / theirs),
  }
}

const rounded = (value: number): number => Number(value.toPrecision(3))

/** Sends a request. @throws Error if the answer is not a success */
function answerOf(agent: Agent, url: string, method: string, body: object | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const sent = ask(url, { agent, method, headers, signal: AbortSignal.timeout(LONGEST_MS) }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        if (response.statusCode! >= 300) reject(new Error(`${method} ${url}: ${response.statusCode} ${text}`))
        else resolve(text === '' ? null : JSON.parse(text))
      })
    }).on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
