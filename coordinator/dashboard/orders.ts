import type { Context } from 'hono'
import type { Logger } from 'pino'
import { ControlRefusal } from '../../common/control/index.js'
import type { Access, TokenCheck } from './access.js'
import { AUTHENTICATE, LATER, TOO_MANY_WRONG_TOKENS } from './unauthorized.js'

/** Path of orders, as on the control socket. */
export const ORDER = '/order'

const HEADERS = { 401: AUTHENTICATE, 429: LATER }

/** Result of an order. */
export interface OrderTaken {
  /** Whether the order changed anything. */
  readonly changed: boolean
  /** Sentences about the effects. */
  readonly effects: readonly string[]
}

/** @param body  parsed JSON. @throws ControlRefusal for an order that is not possible */
export type OrderTaker = (body: unknown) => Promise<OrderTaken>

/**
 * Answers a request that gives an order. The token has to be in the header `Authorization`, because browsers send cookies for pages of
 * other sites too. Requests from this machine need the token too, because users other than the operator may be on it.
 */
export async function takeOrder(
  context: Context,
  { hasToken, token }: Pick<Access, 'hasToken'> & { readonly token: TokenCheck },
  { takeOrder: take, logger }: { readonly takeOrder: OrderTaker; readonly logger: Pick<Logger, 'info'> },
): Promise<Response> {
  const refuse = (status: keyof typeof HEADERS | 400 | 403 | 415, code: string, message: string) =>
    context.json({ code, message }, status, status in HEADERS ? HEADERS[status as keyof typeof HEADERS] : {})
  if (!hasToken)
    return refuse(
      403,
      'no_token',
      'this coordinator takes no orders over HTTP: name a file with a token as dashboard.tokenFile in its run.yaml',
    )
  if (token === 'later') return refuse(429, 'too_many_guesses', TOO_MANY_WRONG_TOKENS)
  if (token !== 'right') return refuse(401, 'unauthorized', 'that is not the token of this run')
  if (!/^application\/json\s*(;|$)/i.test(context.req.header('content-type') ?? ''))
    return refuse(415, 'bad_request', 'send orders as application/json')
  const body = await context.req.json().catch(() => undefined)
  try {
    const taken = await take(body)
    logger.info({ order: body, changed: taken.changed }, 'received an order with the token')
    return context.json(taken)
  } catch (error) {
    if (!(error instanceof ControlRefusal)) throw error
    return refuse(400, error.code, error.message)
  }
}
