import type {
  GroupRequest,
  LeaderboardRequest,
  LeaseRequest,
  LeaseResponse,
  VerdictRequest,
  VerdictResponse,
} from '../proto/index.js'
import {
  type Codec,
  groupRequest,
  LIMITS,
  leaderboardRequest,
  leaderboardResponse,
  leaseRequest,
  leaseResponse,
  PROTOCOLS,
  refusal,
  reply,
  verdictRequest,
  verdictResponse,
} from '../proto/index.js'
import type { SwarmHost } from './host.js'
import {
  type Caller,
  type Exchange,
  type ServeOptions,
  type Server,
  sendRequest,
  serveRequests,
} from './request-response.js'

const LEASE: Exchange<LeaseRequest, LeaseResponse> = {
  protocol: PROTOCOLS.lease,
  request: leaseRequest,
  reply: reply('leaseResponseBytes'),
  response: leaseResponse,
}

/** Serves lease requests, on the coordinator. @param handler  throws a SwarmRefusal to refuse */
export const serveLeases = (
  host: SwarmHost,
  handler: (request: LeaseRequest, caller: Caller) => Promise<LeaseResponse>,
  options?: ServeOptions,
): Promise<Server> => serveRequests(host, LEASE, handler, options)

/** Asks for, renews or returns leases. @throws TransportError, SwarmRefusal */
export const requestLeases = (
  host: SwarmHost,
  coordinator: string,
  request: LeaseRequest,
  signal: AbortSignal,
  timeoutMs?: number,
): Promise<LeaseResponse> => sendRequest(host, LEASE, coordinator, request, signal, timeoutMs)

const VERDICT: Exchange<VerdictRequest, VerdictResponse> = {
  protocol: PROTOCOLS.verdict,
  request: verdictRequest,
  reply: reply('verdictResponseBytes'),
  response: verdictResponse,
}

/** Serves each node its own verdicts. The connection has proved `caller.peer`. */
export const serveVerdicts = (
  host: SwarmHost,
  handler: (request: VerdictRequest, caller: Caller) => Promise<VerdictResponse>,
  options?: ServeOptions,
): Promise<Server> => serveRequests(host, VERDICT, handler, options)

/** Fetches a page of this node's verdicts, still sealed. @throws TransportError, SwarmRefusal */
export const requestVerdicts = (
  host: SwarmHost,
  coordinator: string,
  request: VerdictRequest,
  signal: AbortSignal,
  timeoutMs?: number,
): Promise<VerdictResponse> => sendRequest(host, VERDICT, coordinator, request, signal, timeoutMs)

const LEADERBOARD: Exchange<LeaderboardRequest, Uint8Array> = {
  protocol: PROTOCOLS.leaderboard,
  request: leaderboardRequest,
  reply: reply('leaderboardResponseBytes'),
  response: leaderboardResponse,
}

/** Serves a sealed leaderboard. @param handler  throws a SwarmRefusal if it has none */
export const serveLeaderboard = (
  host: SwarmHost,
  handler: (request: LeaderboardRequest, caller: Caller) => Promise<Uint8Array>,
  options?: ServeOptions,
): Promise<Server> => serveRequests(host, LEADERBOARD, handler, options)

/** Fetches a peer's leaderboard, still sealed. @throws TransportError, SwarmRefusal */
export const requestLeaderboard = (
  host: SwarmHost,
  peer: string,
  request: LeaderboardRequest,
  signal: AbortSignal,
  timeoutMs?: number,
): Promise<Uint8Array> => sendRequest(host, LEADERBOARD, peer, request, signal, timeoutMs)

/** Bytes that the caller checks against a hash. */
const rawBody: Codec<Uint8Array> = {
  maxBytes: LIMITS.groupBodyBytes.value,
  encode: (body) => body,
  parse: (data) => {
    if (data.length > LIMITS.groupBodyBytes.value) throw refusal('too_large', `a body of ${data.length} B`)
    return data
  },
}

/** Requests for group bodies, and direct offers of announcements. */
export const GROUP: Exchange<GroupRequest, Uint8Array> = {
  protocol: PROTOCOLS.group,
  request: groupRequest,
  reply: reply('groupBodyBytes'),
  response: rawBody,
}
