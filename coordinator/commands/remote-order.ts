import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { ControlError } from '../../common/control/index.js'
import { isLoopback } from '../../common/http/index.js'
import { ORDER } from '../service/control-routes.js'
import { type OrderAnswer, type OrderAsk, orderAnswer } from '../service/order-service.js'
import { ConfigError } from '../settings/config.js'

/** A coordinator that is reached over HTTP. */
export interface RemoteRun {
  /** Of its dashboard, or of the proxy before it. */
  readonly url: URL
  readonly token: string
}

/** No answer to an order comes near this. */
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_TOKEN_BYTES = 4096

const refusal = z.object({ message: z.string() })

/**
 * @param at         what `--at` says
 * @param tokenFile  what `--token-file` says; a token on the command line could be seen by everybody on the machine
 * @throws ConfigError
 */
export async function remoteRun(at: string, tokenFile: string | undefined): Promise<RemoteRun> {
  if (!URL.canParse(at) || !/^https?:\/\//i.test(at))
    throw new ConfigError(`--at: ${JSON.stringify(at)} is no address of a dashboard, such as https://run.example.org`)
  // With a slash at its end, what follows stays below the path of a proxy.
  const url = new URL(at.endsWith('/') ? at : `${at}/`)
  if (url.protocol === 'http:' && !isLoopback(url.hostname.replace(/^\[|\]$/g, '')))
    throw new ConfigError(
      `--at: over http anybody on the way could read the token: use https, or ssh -L 4080:127.0.0.1:4080 ${url.hostname} and --at http://127.0.0.1:4080`,
    )
  if (tokenFile === undefined)
    throw new ConfigError('--at needs --token-file: the file that holds the token of the run')
  const text = await readFile(tokenFile, 'utf8').catch((cause: Error) => {
    throw new ConfigError(`--token-file: ${cause.message}`, { cause })
  })
  const token = text.trim()
  if (!/^[\x21-\x7e]+$/.test(token) || token.length > MAX_TOKEN_BYTES)
    throw new ConfigError(`--token-file: ${tokenFile} must hold the token of the run and nothing else`)
  return { url, token }
}

/** @throws ControlError when the coordinator refuses the order, or cannot be reached */
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
  const said = jsonIn(text)
  if (response.ok) {
    const answer = orderAnswer.safeParse(said)
    if (answer.success) return answer.data
    throw unreachable('what answers there is no coordinator of this version')
  }
  const why = refusal.safeParse(said)
  throw new ControlError('refused', why.success ? why.data.message : `${to}: status ${response.status}`)
}

async function boundedText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += piece.length
    if (size > MAX_ANSWER_BYTES) throw new Error(`it answers more than ${MAX_ANSWER_BYTES} B`)
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
