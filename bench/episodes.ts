import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request as ask } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import pLimit from 'p-limit'
import pidusage from 'pidusage'
import { writeDemoTasks } from '../test/support/demo-tasks.js'
import type { BenchResult } from './result.js'

const AT_ONCE = [1, 100, 1000]
const TASKS = 64
/** Requests on their way: so many connections stay open, whatever the number of episodes. */
const CONNECTIONS = 16
/** Of an episode that is played: opened, two actions, its score, closed. */
const REQUESTS = 5
const LONGEST_MS = 60_000
/** From `dist/bench`, where this runs. */
const program = fileURLToPath(new URL('../environment/main.js', import.meta.url))

/**
 * `prove-server env` as trainers use it, in a process of its own: what an open episode costs in memory, and how many are opened, played
 * and closed in a second, while so many are open at once. One client with some connections asks over HTTP, so its own work is in the times.
 */
export async function run(): Promise<{ versions: Readonly<Record<string, string>>; results: BenchResult[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-bench-episodes-'))
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const results: BenchResult[] = []
  try {
    await writeDemoTasks(join(folder, 'tasks'), TASKS, 1)
    for (const episodes of AT_ONCE) results.push(...(await measure(join(folder, 'tasks'), episodes, agent)))
  } finally {
    agent.destroy()
    await rm(folder, { recursive: true })
  }
  return { versions: {}, results }
}

async function measure(tasks: string, episodes: number, agent: Agent): Promise<BenchResult[]> {
  const server = execa(process.execPath, [program, 'env', '--dataset', tasks, '--http', '0', '--end-with-stdin'], {
    stdin: 'pipe',
    stdout: 'ignore',
    reject: false,
  })
  try {
    const origin = await originIn(server.stderr)
    const send = (method: string, path: string, body?: object) => answerOf(agent, `${origin}${path}`, method, body)
    const limit = pLimit(CONNECTIONS)
    const all = <T>(work: (index: number) => Promise<T>): Promise<T[]> =>
      Promise.all(Array.from({ length: episodes }, (_, index) => limit(() => work(index))))
    const open = async (index: number) =>
      ((await send('POST', '/episodes', { index: index % TASKS })) as { episode: string }).episode
    // Every task once: worlds are made and schemas compiled then, which is not an episode's cost.
    for (let index = 0; index < TASKS; index++) await send('DELETE', `/episodes/${await open(index)}`)
    const before = await memoryOf(server.pid!)

    const began = performance.now()
    const ids = await all(open)
    const opened = performance.now()
    const full = await memoryOf(server.pid!)
    const goOn = performance.now()
    await all(async (index) => {
      const path = `/episodes/${ids[index]!}`
      await send('POST', `${path}/actions`, { name: 'no_such_tool', arguments: {} })
      await send('POST', `${path}/actions`, { say: 'Done.' })
      await send('GET', path)
      await send('DELETE', path)
    })
    const seconds = (opened - began + performance.now() - goOn) / 1000
    const at = `${episodes} at once`
    return [
      { metric: `episodes, ${at}`, value: rounded(episodes / seconds), unit: 'per s' },
      { metric: `requests, ${at}`, value: rounded((REQUESTS * episodes) / seconds), unit: 'per s' },
      // Of a few, the collector's moods are all that would be seen.
      ...(episodes < 1000
        ? []
        : [{ metric: `memory of an episode, ${at}`, value: rounded((full - before) / episodes / 1024), unit: 'KiB' }]),
    ]
  } finally {
    server.stdin.end()
    await server
  }
}

const memoryOf = async (pid: number): Promise<number> => (await pidusage(pid)).memory
const rounded = (value: number): number => Number(value.toPrecision(3))

async function originIn(stderr: NodeJS.ReadableStream): Promise<string> {
  let said = ''
  for await (const chunk of stderr) {
    said += String(chunk)
    const [origin] = said.match(/http:\S+/) ?? []
    if (origin !== undefined) return origin
  }
  throw new Error(`the server ended and said ${said}`)
}

/** @throws Error for an answer that is none of success */
function answerOf(agent: Agent, url: string, method: string, body: object | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = ask(url, { agent, method, signal: AbortSignal.timeout(LONGEST_MS) }, (response) => {
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
