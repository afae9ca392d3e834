import { randomUUID } from 'node:crypto'
import { upgradeWebSocket } from '@hono/node-server'
import { Hono } from 'hono'
import type { WSContext } from 'hono/ws'
import { WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { CodedError } from '../../../common/errors/index.js'
import { createSessionTable, type WebSockets } from '../../../common/http/index.js'
import { EPISODE_SERVER_LIMITS } from '../limits.js'
import { readJson } from '../read-json.js'
import { reset, stateOf, step } from './open-env.js'
import { clientOf } from './request.js'
import type { EpisodeService } from './service.js'

const message = z.discriminatedUnion('type', [
  z.object({ type: z.literal('reset'), data: z.record(z.string(), z.unknown()).default({}) }),
  z.object({ type: z.literal('step'), data: z.record(z.string(), z.unknown()) }),
  z.object({ type: z.literal('state') }),
  z.object({ type: z.literal('close') }),
])
const typed = z.object({ type: z.string() })
const KNOWN = new Set<string>(message.options.map(({ shape }) => shape.type.value))

type ErrorCode = 'INVALID_JSON' | 'UNKNOWN_TYPE' | 'VALIDATION_ERROR' | 'EXECUTION_ERROR' | 'CAPACITY_REACHED'
interface Answer {
  readonly type: 'observation' | 'state' | 'error'
  readonly data: unknown
}
/** Returns an error message. @param error  code of this server, in addition to OpenEnv's code */
const refusal = (code: ErrorCode, text: string, error?: string): Answer => ({
  type: 'error',
  data: { message: text, code, ...(error === undefined ? {} : { error }) },
})

/** Conversation over one connection, with one episode at a time. The episode ends with the connection. */
interface Conversation {
  /** Answers a message. @returns  null if the client closes the conversation */
  answer(text: string): Promise<Answer | null>
  end(): void
}

function converse(service: EpisodeService, client: string): Conversation {
  let id: string | null = null
  const end = (): void => {
    // The server may have evicted the episode already.
    if (id !== null && service.episodes.has(id)) service.episodes.close(id)
    id = null
  }
  const handle = async (request: z.output<typeof message>): Promise<Answer | null> => {
    if (request.type === 'close') return null
    if (request.type === 'state') return { type: 'state', data: await stateOf(service, id) }
    if (request.type === 'step') return { type: 'observation', data: await step(service, id, request.data) }
    end()
    const opened = await reset(service, client, request.data)
    id = opened.id
    return { type: 'observation', data: opened.observed }
  }
  return {
    async answer(text) {
      const parsed = parseMessage(text)
      if ('refused' in parsed) return parsed.refused
      try {
        return await handle(parsed.request)
      } catch (error) {
        if (!(error instanceof CodedError)) throw error
        return refusal(codeOf(error.code), `${error.code}: ${error.detail}`, error.code)
      }
    },
    end,
  }
}

function parseMessage(text: string): { readonly request: z.output<typeof message> } | { readonly refused: Answer } {
  let value: unknown
  try {
    value = readJson(text, 'the message')
  } catch (error) {
    return { refused: refusal('INVALID_JSON', (error as Error).message) }
  }
  const { data: { type } = { type: '' } } = typed.safeParse(value)
  if (!KNOWN.has(type))
    return { refused: refusal('UNKNOWN_TYPE', `unknown message type: use one of ${[...KNOWN].join(', ')}`) }
  const parsed = message.safeParse(value)
  if (parsed.success) return { request: parsed.data }
  return { refused: refusal('VALIDATION_ERROR', z.prettifyError(parsed.error).slice(0, 400)) }
}

function codeOf(code: string): ErrorCode {
  if (code === 'too_many_episodes') return 'CAPACITY_REACHED'
  return code === 'bad_request' ? 'VALIDATION_ERROR' : 'EXECUTION_ERROR'
}

export interface OpenEnvSockets {
  readonly server: WebSockets
  readonly routes: Hono
  closeIdle(): void
  close(): void
}

/** Creates OpenEnv's WebSocket endpoint `/ws`. Each connection is one OpenEnv environment. */
export function openEnvSockets(service: EpisodeService): OpenEnvSockets {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: EPISODE_SERVER_LIMITS.requestBytes,
    perMessageDeflate: false,
  })
  const table = createSessionTable<WSContext<unknown>>(
    {
      maxSessions: EPISODE_SERVER_LIMITS.episodes,
      maxPerClient: EPISODE_SERVER_LIMITS.episodesPerClient,
      idleMs: EPISODE_SERVER_LIMITS.idleMs,
      restMs: EPISODE_SERVER_LIMITS.restMs,
      now: () => performance.now(),
    },
    async (socket) => socket.close(1001, 'idle'),
  )
  const routes = new Hono()
  routes.get(
    '/ws',
    upgradeWebSocket((context) => {
      const client = clientOf(context)
      const name = randomUUID()
      const conversation = converse(service, client)
      let waiting = 0
      let last: Promise<void> = Promise.resolve()
      const say = (socket: WSContext<unknown>, answer: Answer | null): void =>
        answer ? socket.send(JSON.stringify(answer)) : socket.close(1000)
      return {
        onOpen(_, socket) {
          const release = table.reserve(client)
          if (release) table.add(name, client, socket)
          else {
            say(
              socket,
              refusal('CAPACITY_REACHED', 'the server is full; close a connection or retry later', 'too_many_episodes'),
            )
            socket.close(1013)
          }
          release?.()
        },
        onMessage({ data }, socket) {
          if (waiting >= EPISODE_SERVER_LIMITS.waitingMessages || unread(socket) > EPISODE_SERVER_LIMITS.unreadBytes) {
            socket.close(1008, 'too many requests without waiting for responses')
            return
          }
          waiting += 1
          const text = typeof data === 'string' ? data : ''
          last = last
            .then(() => table.use(name, true, () => conversation.answer(text)))
            .then((answer) => say(socket, answer))
            .catch(() => socket.close(1011, 'internal'))
            .finally(() => {
              waiting -= 1
            })
        },
        onClose() {
          table.remove(name)
          void last.then(() => conversation.end())
        },
      }
    }),
  )
  return {
    // The type of `ws` makes an option optional that is set above.
    server: server as WebSockets,
    routes,
    closeIdle: () => void table.closeIdle(),
    close() {
      for (const socket of server.clients) socket.terminate()
    },
  }
}

/** Returns the bytes of responses that a client has not read yet. */
const unread = ({ raw }: WSContext<unknown>): number => (raw instanceof WebSocket ? raw.bufferedAmount : 0)
