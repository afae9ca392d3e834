import {
  CallToolRequestSchema,
  ErrorCode,
  InitializeRequestSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { z } from 'zod'

type Json = Readonly<Record<string, unknown>>

/** An error of JSON-RPC, with the id of the request if it is readable. */
export interface RpcError {
  readonly jsonrpc: '2.0'
  readonly id: string | number | null
  readonly error: { readonly code: number; readonly message: string }
}

/** A message of a client as the SDKs read it, or the error that answers it. */
export type ReadMessage = { readonly message: unknown } | { readonly error: RpcError }

/** Requests whose parameters the SDKs would report as an internal error, with the validator's whole output. */
const REQUESTS: Readonly<Record<string, z.ZodType | undefined>> = {
  initialize: InitializeRequestSchema as unknown as z.ZodType,
  'tools/list': ListToolsRequestSchema as unknown as z.ZodType,
  'tools/call': CallToolRequestSchema as unknown as z.ZodType,
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

export const rpcError = (id: unknown, code: number, message: string): RpcError => ({
  jsonrpc: '2.0',
  id: typeof id === 'string' || Number.isFinite(id) ? (id as string | number) : null,
  error: { code, message },
})

/**
 * Reads one message of a client. Clients in some languages write absent fields as null: `params` and its members with the value null are
 * absent. A request that is still wrong gets the error that JSON-RPC has for it.
 */
export function readClientMessage(value: unknown): ReadMessage {
  if (!isObject(value) || value.jsonrpc !== '2.0')
    return {
      error: rpcError(isObject(value) ? value.id : null, ErrorCode.InvalidRequest, 'not a JSON-RPC 2.0 message'),
    }
  const { id, method } = value
  if (method === undefined && ('result' in value || 'error' in value)) return { message: value }
  if (typeof method !== 'string') return { error: rpcError(id, ErrorCode.InvalidRequest, 'method must be a text') }
  const { params, ...rest } = value
  if (params === undefined || params === null) return checked(rest)
  if (!isObject(params)) return { error: rpcError(id, ErrorCode.InvalidParams, 'params must be an object') }
  const stated = Object.entries(params)
  if (stated.every(([, of]) => of !== null)) return checked(value)
  return checked({ ...rest, params: Object.fromEntries(stated.filter(([, of]) => of !== null)) })
}

function checked(message: Json): ReadMessage {
  const { id, method, params } = message
  // With `_meta`, a client of MCP 2026-07-28 asks for a method that this revision does not have: the SDK says so.
  const isForeign = method === 'initialize' && isObject(params) && params._meta !== undefined
  const found = id === undefined || isForeign ? undefined : REQUESTS[method as string]?.safeParse(message)
  if (found === undefined || found.success) return { message }
  const [issue] = found.error.issues
  return { error: rpcError(id, ErrorCode.InvalidParams, `${issue!.path.join('.')}: ${issue!.message}`) }
}
