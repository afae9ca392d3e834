import { z } from 'zod'
import { ControlRefusal, type ControlRoute } from '../../common/control/index.js'
import type { Metrics } from '../../swarm/index.js'
import type { ChainedLog } from '../ledger/event-log.js'
import type { Recorder } from '../ledger/recorder.js'
import { newEvents } from './new-events.js'
import { type OrderAnswer, type OrderAsk, type OrderService, orderSchema } from './order-service.js'

/** Paths of the log on the control socket. LevelDB lets only one process open its files. */
export const LOG_END = '/log/end'
export const LOG_RECORDS = '/log/records'
export const METRICS = '/metrics'
/** New events after a place of the log, as they happen, without secrets. */
export const NEW_EVENTS = '/events/new'
export const ORDER = '/order'

const range = z.object({ until: z.coerce.number().int().min(0) })
const from = z.object({ from: z.coerce.number().int().min(0) })

/** Author of an order on the control socket, which only the owner of the data folder can open. */
const OWNER = { who: 'operator', via: 'control socket' } as const
/** Author of an order over HTTP. */
const BEARER = { who: 'operator', via: 'token' } as const

export interface ControlParts {
  readonly log: ChainedLog
  readonly recorder: Pick<Recorder, 'listen' | 'record'>
  readonly metrics: Metrics
  readonly orders: OrderService
}

/** Returns the routes of the control socket, which the operator's commands use. */
export const controlRoutes = ({ log, recorder, metrics, orders }: ControlParts): readonly ControlRoute[] => [
  { method: 'GET', path: LOG_END, answer: async () => ({ json: log.end }) },
  {
    method: 'GET',
    path: LOG_RECORDS,
    async answer({ query }) {
      const { data } = range.safeParse(query)
      if (!data || data.until > log.end.count)
        throw new ControlRefusal('bad_request', `until is a number of events, at most ${log.end.count}`)
      return { lines: log.records(data.until) }
    },
  },
  {
    method: 'GET',
    path: NEW_EVENTS,
    async answer({ query }) {
      const { data } = from.safeParse(query)
      if (!data || data.from > log.end.count)
        throw new ControlRefusal('bad_request', `from is a number of events, at most ${log.end.count}`)
      return { live: await newEvents(log, recorder, data.from) }
    },
  },
  {
    method: 'POST',
    path: ORDER,
    async answer({ body }) {
      return { json: await orders.take(orderIn(body), OWNER) }
    },
  },
  { method: 'GET', path: METRICS, answer: async () => ({ lines: textLines(await metrics.metrics()) }) },
]

/** Takes an order over HTTP, after its sender has shown the token. @throws ControlRefusal */
export async function takeByToken(orders: OrderService, body: unknown): Promise<OrderAnswer> {
  const ask = orderIn(body)
  if (ask.order === 'settings')
    throw new ControlRefusal(
      'bad_request',
      'settings can only be changed on the machine of the coordinator: use prove-coordinator set there',
    )
  return orders.take(ask, BEARER)
}

function orderIn(body: unknown): OrderAsk {
  const { data, error } = orderSchema.safeParse(body)
  if (data) return data
  const { path, message } = error.issues[0]!
  throw new ControlRefusal('bad_request', `${path.join('.') || 'the order'}: ${message}`)
}

async function* textLines(text: string): AsyncGenerator<string> {
  yield* text.trimEnd().split('\n')
}
