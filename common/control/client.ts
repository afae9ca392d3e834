import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { z } from 'zod'
import { CodedError } from '../errors/index.js'
import { controlAddress } from './address.js'
import { linesOf } from './lines.js'

/** A client of the program that runs on a data directory, for commands in another terminal. */
export interface ControlClient {
  /** Sends a GET request. @throws ControlError */
  get(path: string): Promise<unknown>
  /** Sends a POST request. @param body  sent as JSON. @throws ControlError */
  post(path: string, body: unknown): Promise<unknown>
  /** Yields the lines of the answer as they arrive. @throws ControlError */
  lines(path: string): AsyncIterable<string>
}

/** The program refused a request, or stopped answering. */
export class ControlError extends CodedError<'refused' | 'unreachable'> {}

const TIMEOUT_MS = 60_000
const MAX_ANSWER_CHARS = 1024 * 1024
/** Errors of a socket without a listener: no program runs, or the last one was killed. */
const NO_LISTENER = new Set(['ENOENT', 'ECONNREFUSED'])

const refusal = z.object({ code: z.string(), message: z.string() })

/** Connects to the program on a data directory. @returns  null if no program runs */
export async function reachControl(dataDir: string, signal: AbortSignal): Promise<ControlClient | null> {
  const address = await controlAddress(dataDir)
  if (address === null || !(await isListening(address, signal))) return null
  const lines = async function* (path: string, body?: unknown): AsyncGenerator<string> {
    const response = await ask(address, path, signal, body)
    try {
      yield* linesOf(response)
    } catch (cause) {
      throw unreachable(address, cause)
    }
  }
  const json = async (path: string, body?: unknown): Promise<unknown> => {
    let text = ''
    for await (const line of lines(path, body)) {
      text += line
      if (text.length > MAX_ANSWER_CHARS)
        throw new ControlError('refused', `the answer to ${path} is longer than 1 MiB`)
    }
    return JSON.parse(text)
  }
  return {
    lines: (path) => lines(path),
    get: (path) => json(path),
    post: json,
  }
}

async function isListening(address: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await send(address, '/', signal)
    response.resume()
    return true
  } catch (cause) {
    if (NO_LISTENER.has((cause as NodeJS.ErrnoException).code ?? '')) return false
    throw unreachable(address, cause)
  }
}

async function ask(address: string, path: string, signal: AbortSignal, body?: unknown): Promise<IncomingMessage> {
  const response = await send(address, path, signal, body).catch((cause: unknown) => {
    throw unreachable(address, cause)
  })
  if (response.statusCode === 200) return response
  let text = ''
  for await (const line of linesOf(response)) text += line.slice(0, MAX_ANSWER_CHARS)
  const why = refusal.safeParse(JSON.parse(text))
  throw new ControlError('refused', why.success ? why.data.message : `${path}: status ${response.statusCode}`)
}

async function send(address: string, path: string, signal: AbortSignal, body?: unknown): Promise<IncomingMessage> {
  const method = body === undefined ? 'GET' : 'POST'
  const sent = request({ socketPath: address, path, method, timeout: TIMEOUT_MS, signal })
  sent.once('timeout', () => sent.destroy(new Error(`no answer for ${TIMEOUT_MS / 1000} s`)))
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

const unreachable = (address: string, cause: unknown): ControlError =>
  new ControlError('unreachable', `the program at ${address} does not answer: ${(cause as Error).message}`, { cause })
