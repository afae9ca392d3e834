import { once } from 'node:events'
import pLimit from 'p-limit'
import { WebSocket } from 'ws'
import type { ServedProgram } from './served-program.js'

const LONGEST_MS = 60_000
/** Messages per played episode: reset, two steps, state. Each episode also opens and closes a connection. */
const STEPS = 2

/** Messages to an environment of either server. */
export interface Part {
  reset(index: number): object
  step(step: number): { readonly tool_name: string; readonly arguments: object }
}

export interface Load {
  readonly episodesPerS: number
  /** Additional memory of the server while the episodes are open, in bytes. */
  readonly memoryBytes: number
}

/**
 * Plays episodes over OpenEnv's protocol, each over a separate connection: opens all, then sends actions, reads the state and closes,
 * `atOnce` episodes at a time.
 * @throws Error if an answer is an error
 */
export async function playOverSockets(
  server: ServedProgram,
  part: Part,
  episodes: number,
  atOnce: number,
): Promise<Load> {
  const limit = pLimit(atOnce)
  const all = <T>(work: (index: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: episodes }, (_, index) => limit(() => work(index))))
  const before = await server.memory()
  const began = performance.now()
  const sockets = await all(async (index) => {
    const socket = new WebSocket(`${server.origin.replace('http', 'ws')}/ws`, { perMessageDeflate: false })
    await once(socket, 'open', { signal: AbortSignal.timeout(LONGEST_MS) })
    await ask(socket, { type: 'reset', data: part.reset(index) })
    return socket
  })
  const opened = performance.now()
  const full = await server.memory()
  const goOn = performance.now()
  await all(async (index) => {
    const socket = sockets[index]!
    for (let step = 0; step < STEPS; step++)
      await ask(socket, { type: 'step', data: { type: 'call_tool', ...part.step(step) } })
    await ask(socket, { type: 'state' })
    socket.close()
    await once(socket, 'close', { signal: AbortSignal.timeout(LONGEST_MS) })
  })
  const seconds = (opened - began + performance.now() - goOn) / 1000
  return { episodesPerS: episodes / seconds, memoryBytes: (full - before) / episodes }
}

async function ask(socket: WebSocket, message: object): Promise<void> {
  socket.send(JSON.stringify(message))
  const [data] = await once(socket, 'message', { signal: AbortSignal.timeout(LONGEST_MS) })
  const answer = JSON.parse(String(data)) as { type: string }
  if (answer.type === 'error') throw new Error(`${JSON.stringify(message)}: ${String(data)}`)
}
