import type { Context } from 'hono'
import type { Logger } from 'pino'
import { ControlRefusal } from '../../common/control/index.js'
import type { Access, TokenSaid } from './access.js'
import { DASHBOARD_LIMITS } from './limits.js'

/** Where orders are sent to, as on the control socket. */
export const ORDER = '/order'

/** What is said of a token that is not looked at. */
export const GUESSES = 'too many wrong tokens came from this address: try again in a minute'
export const LATER = { 'Retry-After': String(DASHBOARD_LIMITS.wrongTokensMs / 1000) }
const HEADERS = { 401: { 'WWW-Authenticate': 'Bearer' }, 429: LATER }

/** What became of an order, in words. */
export interface OrderTaken {
  /** Whether anything is otherwise than before. */
  readonly changed: boolean
  readonly said: readonly string[]
}

/** @param body  as JSON told it. @throws ControlRefusal for an order that makes no sense */
export type OrderTaker = (body: unknown) => Promise<OrderTaken>

/**
 * An order from elsewhere. Only the header will do: a browser sends that for no page, as it would a cookie, and on this machine
 * there are others than the run's owner.
 */
export async function takeOrder(
  context: Context,
  { hasToken, token }: Pick<Access, 'hasToken'> & { readonly token: TokenSaid },
  { takeOrder: take, logger }: { readonly takeOrder: OrderTaker; readonly logger: Pick<Logger, 'info'> },
): Promise<Response> {
  const refuse = (status: keyof typeof HEADERS | 400 | 403 | 415, code: string, message: string) =>
    context.json({ code, message }, status, status in HEADERS ? HEADERS[status as keyof typeof HEADERS] : {})
  if (!hasToken)
    return refuse(
      403,
      'no_token',
      'this coordinator takes no orders here: dashboard.tokenFile in its run.yaml names none',
    )
  if (token === 'later') return refuse(429, 'too_many_guesses', GUESSES)
  if (token !== 'right') return refuse(401, 'unauthorized', 'that is not the token of this run')
  if (!/^application\/json\s*(;|$)/i.test(context.req.header('content-type') ?? ''))
    return refuse(415, 'bad_request', 'an order is sent as application/json')
  const body = await context.req.json().catch(() => undefined)
  try {
    const taken = await take(body)
    logger.info({ order: body, changed: taken.changed }, 'an order came with the token')
    return context.json(taken)
  } catch (error) {
    if (!(error instanceof ControlRefusal)) throw error
    return refuse(400, error.code, error.message)
  }
}
