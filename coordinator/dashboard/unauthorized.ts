import type { Context } from 'hono'
import { DASHBOARD_LIMITS } from './limits.js'

/** Headers of answers to requests without a valid token. */
export const AUTHENTICATE = { 'WWW-Authenticate': 'Bearer' }
/** Headers and message of answers to requests whose token is not compared, after too many wrong tokens. */
export const LATER = { 'Retry-After': String(DASHBOARD_LIMITS.wrongTokensMs / 1000) }
export const TOO_MANY_WRONG_TOKENS = 'too many wrong tokens came from this address: try again in a minute'

/** Answers a request without a valid token. */
export const unauthorized = (context: Context): Response => context.text('unauthorized\n', 401, AUTHENTICATE)
