import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import { areSameToken, bearerToken } from '../../common/http/bearer-token.js'
import { DashboardError } from './errors.js'
import { DASHBOARD_LIMITS } from './limits.js'

/** Rights of a visitor: `operator` sees everything, `public` everything but secrets, `stranger` nothing. */
export type Visitor = 'operator' | 'public' | 'stranger'

/** Result of checking a request's token. `later`: not compared, because too many wrong tokens came from that address. */
export type TokenCheck = 'right' | 'wrong' | 'none' | 'later'

/** Origin and credentials of a request. */
export interface Caller {
  readonly host: string | undefined
  readonly origin: string | undefined
  /** Result for the header `Authorization`, see `bearer`. */
  readonly token: TokenCheck
  /** Cookie of the session. */
  readonly session: string | undefined
}

/** Decides who may see the dashboard. */
export interface Access {
  /** Returns why a request is rejected without further checks; null: it is not. */
  refusal(caller: Pick<Caller, 'host' | 'origin'>): 'host_not_allowed' | 'origin_not_allowed' | null
  visitor(caller: Pick<Caller, 'token' | 'session'>): Visitor
  /**
   * Checks the header `Authorization`. Requests that change a run need a token there; a session or a local connection does not suffice.
   * @param address  of the client, whose wrong tokens are counted
   */
  bearer(authorization: string | undefined, address: string): TokenCheck
  /** Begins a session. @returns  its cookie, or the result of a failed check */
  logIn(token: string, address: string): { readonly session: string } | Exclude<TokenCheck, 'right' | 'none'>
  logOut(session: string | undefined): void
  /** Whether there is a token to log in with. */
  readonly hasToken: boolean
}

export interface AccessSettings {
  /** Null: without a token, every visitor on this machine is the operator. */
  readonly token: string | null
  readonly public: boolean
  /** Host names that browsers may use, in addition to addresses and localhost. */
  readonly hosts: readonly string[]
  /** Milliseconds. */
  readonly now: () => number
}

/**
 * Creates the access control. Rejects DNS rebinding, where a page elsewhere makes its own name resolve to this machine, by the host
 * name of the request. Rejects requests of pages from other origins by their origin. IP addresses cannot be rebound.
 */
export function createAccess({ token, public: isPublic, hosts, now }: AccessSettings): Access {
  const names = new Set(['localhost', ...hosts])
  const sessions = new LRUCache<string, true>({ max: DASHBOARD_LIMITS.sessions, ttl: DASHBOARD_LIMITS.sessionMs })
  const guesses = new LRUCache<string, { count: number; readonly sinceMs: number }>({ max: DASHBOARD_LIMITS.guessers })
  const compare = (offered: string, address: string): Exclude<TokenCheck, 'none'> => {
    const made = guesses.get(address)
    const isRecent = made !== undefined && now() - made.sinceMs < DASHBOARD_LIMITS.wrongTokensMs
    // Not compared at all: otherwise the answer would reveal the right token among many.
    if (isRecent && made.count >= DASHBOARD_LIMITS.wrongTokens) return 'later'
    if (token !== null && areSameToken(offered, token)) return 'right'
    if (isRecent) made.count++
    else guesses.set(address, { count: 1, sinceMs: now() })
    return 'wrong'
  }
  return {
    hasToken: token !== null,
    bearer(authorization, address) {
      const offered = bearerToken(authorization)
      return offered === undefined ? 'none' : compare(offered, address)
    },
    refusal({ host, origin }) {
      if (!isAllowed(host, names)) return 'host_not_allowed'
      if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) return null
      return 'origin_not_allowed'
    },
    visitor({ token: check, session }) {
      if (check === 'right') return 'operator'
      if (session !== undefined && sessions.get(digest(session))) return 'operator'
      if (isPublic) return 'public'
      return token === null ? 'operator' : 'stranger'
    },
    logIn(offered, address) {
      const result = compare(offered, address)
      if (result !== 'right') return result
      const session = randomBytes(24).toString('base64url')
      sessions.set(digest(session), true)
      return { session }
    },
    logOut(session) {
      if (session !== undefined) sessions.delete(digest(session))
    },
  }
}

/** Sessions are kept as hashes, so that the time of a look-up shows nothing about them. */
const digest = (session: string): string => createHash('sha256').update(session).digest('hex')

function isAllowed(host: string | undefined, names: ReadonlySet<string>): boolean {
  if (host === undefined || !URL.canParse(`http://${host}`)) return false
  const { hostname } = new URL(`http://${host}`)
  return names.has(hostname) || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
}

/**
 * Reads the token from a file, without the line break at its end.
 * @throws DashboardError `bad_token`
 */
export async function readToken(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new DashboardError('bad_token', `dashboard.tokenFile: ${cause.message}`, { cause })
  })
  const token = text.trim()
  if (token.length < DASHBOARD_LIMITS.tokenChars || /\s/.test(token))
    throw new DashboardError(
      'bad_token',
      `dashboard.tokenFile: ${file} must contain one word of at least ${DASHBOARD_LIMITS.tokenChars} characters: make one with openssl rand -hex 24`,
    )
  return token
}
