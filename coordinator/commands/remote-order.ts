import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { ControlError } from '../../common/control/index.js'
import { isLoopback } from '../../common/http/index.js'
import { ORDER } from '../service/control-routes.js'
import { type OrderAnswer, type OrderAsk, orderAnswer } from '../service/order-service.js'
import { ConfigError } from '../settings/config.js'

/** A coordinator on another machine, reached over HTTP. */
export interface RemoteRun {
  /** Address of its dashboard, or of a proxy in front of it. */
  readonly url: URL
  readonly token: string
}

/** Far more than any answer to an order has. */
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_TOKEN_BYTES = 4096

const refusal = z.object({ message: z.string() })

/**
 * Checks the options for a coordinator on another machine.
 * @param at         value of `--at`
 * @param tokenFile  value of `--token-file`; other users of this machine could see a token on the command line
 * @throws ConfigError
 */
export async function remoteRun(at: string, tokenFile: string | undefined): Promise<RemoteRun> {
  if (!URL.canParse(at) || !/^https?:\/\//i.test(at))
    throw new ConfigError(
      `--at: ${JSON.stringify(at)} is no dashboard address: type one such as https://run.example.org`,
    )
  // With a slash at the end, relative paths stay below the path of a proxy.
  const url = new URL(at.endsWith('/') ? at : `${at}/`)
  if (url.protocol === 'http:' && !isLoopback(url.hostname.replace(/^\[|\]$/g, '')))
    throw new ConfigError(
      `--at: the token would be sent unencrypted over http: use https, or ssh -L 4080:127.0.0.1:4080 ${url.hostname} and --at http://127.0.0.1:4080`,
    )
  if (tokenFile === undefined)
    throw new ConfigError('--at needs --token-file: the file that contains the token of the run')
  const text = await readFile(tokenFile, 'utf8').catch((cause: Error) => {
    throw new ConfigError(`--token-file: ${cause.message}`, { cause })
  })
  const token = text.trim()
  if (!/^[\x21-\x7e]+$/.test(token) || token.length > MAX_TOKEN_BYTES)
    throw new ConfigError(`--token-file: ${tokenFile} must contain only the token of the run`)
  return { url, token }
}

/** Sends an order over HTTP. @throws ControlError when the coordinator refuses the order, or cannot be reached */
export async function orderRemotely(
  { url, token }: RemoteRun,
  ask: OrderAsk,
  signal: AbortSignal,
): Promise<OrderAnswer> {
  const to = new URL(ORDER.slice(1), url)
  const unreachable = (why: string, cause?: unknown) => new ControlError('unreachable', `${to}: ${why}`, { cause })
  const failed = (cause: Error) => unreachable(((cause.cause ?? cause) as Error).message, cause)
  const response = await fetch(to, {
    ...{ method: 'POST', signal, redirect: 'error', body: JSON.stringify(ask) },
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  }).catch((cause: Error) => {
    throw failed(cause)
  })
  const text = await boundedText(response).catch((cause: Error) => {
    throw failed(cause)
  })
  const json = jsonIn(text)
  if (response.ok) {
    const answer = orderAnswer.safeParse(json)
    if (answer.success) return answer.data
    throw unreachable('the answer is not from a coordinator of this version')
  }
  const why = refusal.safeParse(json)
  throw new ControlError('refused', why.success ? why.data.message : `${to}: status ${response.status}`)
}

async function boundedText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += piece.length
    if (size > MAX_ANSWER_BYTES) throw new Error(`the answer is larger than ${MAX_ANSWER_BYTES} B`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
