import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import { DashboardError } from './errors.js'
import { DASHBOARD_LIMITS } from './limits.js'

/** What a visitor may see: everything that is shown at all, what is nobody's secret, or nothing. */
export type Visitor = 'operator' | 'public' | 'stranger'

/** What a request's token is: `later` when it is not looked at, for too many wrong ones came from that address. */
export type TokenSaid = 'right' | 'wrong' | 'none' | 'later'

/** What a request says of where it comes from. */
export interface Caller {
  readonly host: string | undefined
  readonly origin: string | undefined
  /** What its header `Authorization` holds, see `bearer`. */
  readonly token: TokenSaid
  /** The session's cookie. */
  readonly session: string | undefined
}

export interface Access {
  /** Why a request is not looked at, whatever it asks for; null: it is. */
  refusal(caller: Pick<Caller, 'host' | 'origin'>): 'host_not_allowed' | 'origin_not_allowed' | null
  visitor(caller: Pick<Caller, 'token' | 'session'>): Visitor
  /**
   * What the header `Authorization` says: what changes a run takes a token there, and neither a session nor being here.
   * @param address  of the caller: its wrong tokens are counted
   */
  bearer(authorization: string | undefined, address: string): TokenSaid
  /** @returns  the cookie of a new session; otherwise why there is none */
  logIn(token: string, address: string): { readonly session: string } | Exclude<TokenSaid, 'right' | 'none'>
  logOut(session: string | undefined): void
  /** Whether there is a token to log in with. */
  readonly hasToken: boolean
}

export interface AccessSettings {
  /** Null: there is none, and on this machine everybody is the operator. */
  readonly token: string | null
  readonly public: boolean
  /** Names by which browsers may call beside addresses and localhost. */
  readonly hosts: readonly string[]
  /** Milliseconds. */
  readonly now: () => number
}

/**
 * Who may see what. A page elsewhere that has its own name lead to this machine shows by the name it calls (DNS rebinding), and one
 * that calls from its own place by its origin: both are turned away. Addresses are no names, so nobody can rebind them.
 */
export function createAccess({ token, public: isPublic, hosts, now }: AccessSettings): Access {
  const names = new Set(['localhost', ...hosts])
  const sessions = new LRUCache<string, true>({ max: DASHBOARD_LIMITS.sessions, ttl: DASHBOARD_LIMITS.sessionMs })
  const guesses = new LRUCache<string, { count: number; readonly sinceMs: number }>({ max: DASHBOARD_LIMITS.guessers })
  const look = (said: string, address: string): Exclude<TokenSaid, 'none'> => {
    const made = guesses.get(address)
    const isRecent = made !== undefined && now() - made.sinceMs < DASHBOARD_LIMITS.wrongTokensMs
    // Not compared at all: otherwise a right one among many would be told by its answer.
    if (isRecent && made.count >= DASHBOARD_LIMITS.wrongTokens) return 'later'
    if (token !== null && timingSafeEqual(digest(said), digest(token))) return 'right'
    if (isRecent) made.count++
    else guesses.set(address, { count: 1, sinceMs: now() })
    return 'wrong'
  }
  return {
    hasToken: token !== null,
    bearer(authorization, address) {
      const said = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1]
      return said === undefined ? 'none' : look(said, address)
    },
    refusal({ host, origin }) {
      if (!isAllowed(host, names)) return 'host_not_allowed'
      if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) return null
      return 'origin_not_allowed'
    },
    visitor({ token: said, session }) {
      if (said === 'right') return 'operator'
      if (session !== undefined && sessions.get(digest(session).toString('hex'))) return 'operator'
      if (isPublic) return 'public'
      return token === null ? 'operator' : 'stranger'
    },
    logIn(said, address) {
      const found = look(said, address)
      if (found !== 'right') return found
      const session = randomBytes(24).toString('base64url')
      sessions.set(digest(session).toString('hex'), true)
      return { session }
    },
    logOut(session) {
      if (session !== undefined) sessions.delete(digest(session).toString('hex'))
    },
  }
}

/** Of equal length whatever is said, as a comparison in constant time needs it. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

function isAllowed(host: string | undefined, names: ReadonlySet<string>): boolean {
  if (host === undefined || !URL.canParse(`http://${host}`)) return false
  const { hostname } = new URL(`http://${host}`)
  return names.has(hostname) || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
}

/**
 * The token that a file holds, without the line break at its end.
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
      `dashboard.tokenFile: ${file} must hold one word of at least ${DASHBOARD_LIMITS.tokenChars} characters: openssl rand -hex 24 makes one`,
    )
  return token
}
