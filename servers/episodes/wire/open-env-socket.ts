import { randomUUID } from 'node:crypto'
import { upgradeWebSocket } from '@hono/node-server'
import { Hono } from 'hono'
import type { WSContext } from 'hono/ws'
import { WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { CodedError } from '../../../common/errors/index.js'
import { createSessionTable, type WebSockets } from '../../../common/http/index.js'
import { EPISODE_SERVER_LIMITS } from '../limits.js'
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
/** @param error  the code of ours that OpenEnv's stands for */
const refusal = (code: ErrorCode, text: string, error?: string): Answer => ({
  type: 'error',
  data: { message: text, code, ...(error === undefined ? {} : { error }) },
})

/** One connection's conversation: it has one episode at a time, which ends with it. */
interface Conversation {
  /** @returns  null: the client says that it is done */
  answer(text: string): Promise<Answer | null>
  end(): void
}

function converse(service: EpisodeService, client: string): Conversation {
  let id: string | null = null
  const end = (): void => {
    // It may have given way, or been idle for too long: it is gone either way.
    if (id !== null && service.episodes.has(id)) service.episodes.close(id)
    id = null
  }
  const obey = async (asked: z.output<typeof message>): Promise<Answer | null> => {
    if (asked.type === 'close') return null
    if (asked.type === 'state') return { type: 'state', data: await stateOf(service, id) }
    if (asked.type === 'step') return { type: 'observation', data: await step(service, id, asked.data) }
    end()
    const opened = await reset(service, client, asked.data)
    id = opened.id
    return { type: 'observation', data: opened.observed }
  }
  return {
    async answer(text) {
      const read = parseMessage(text)
      if ('refused' in read) return read.refused
      try {
        return await obey(read.asked)
      } catch (error) {
        if (!(error instanceof CodedError)) throw error
        return refusal(codeOf(error.code), `${error.code}: ${error.detail}`, error.code)
      }
    },
    end,
  }
}

function parseMessage(text: string): { readonly asked: z.output<typeof message> } | { readonly refused: Answer } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { refused: refusal('INVALID_JSON', 'a message is JSON') }
  }
  const { data: { type } = { type: '' } } = typed.safeParse(value)
  if (!KNOWN.has(type)) return { refused: refusal('UNKNOWN_TYPE', `a message is one of ${[...KNOWN].join(', ')}`) }
  const parsed = message.safeParse(value)
  if (parsed.success) return { asked: parsed.data }
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

/** OpenEnv's `/ws`, which its clients use: a connection is an environment. */
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
    async (socket) => socket.close(1001, 'rested for long'),
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
            say(socket, refusal('CAPACITY_REACHED', 'close a connection, or try again later', 'too_many_episodes'))
            socket.close(1013)
          }
          release?.()
        },
        onMessage({ data }, socket) {
          if (waiting >= EPISODE_SERVER_LIMITS.waitingMessages || unread(socket) > EPISODE_SERVER_LIMITS.unreadBytes) {
            socket.close(1008, 'answers are to be waited for')
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
    // Its types leave open whether an option is there that is given above.
    server: server as WebSockets,
    routes,
    closeIdle: () => void table.closeIdle(),
    close() {
      for (const socket of server.clients) socket.terminate()
    },
  }
}

/** Bytes of answers that a client has not taken yet. */
const unread = ({ raw }: WSContext<unknown>): number => (raw instanceof WebSocket ? raw.bufferedAmount : 0)
