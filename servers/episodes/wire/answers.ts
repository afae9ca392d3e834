import { EpisodeError, type EpisodeErrorCode } from '../../../rollout/episode/index.js'
import { PresetError } from '../../../rollout/reward/index.js'
import type { ToolSchema } from '../../../tasks/dataset/index.js'
import type { OfferedTool } from '../../kernel/index.js'
import { EpisodeServerError, type EpisodeServerErrorCode } from '../errors.js'
import { EPISODE_SERVER_LIMITS } from '../limits.js'

const STATUS = {
  unknown_task: 404,
  unknown_episode: 404,
  too_many_episodes: 503,
  bad_request: 400,
  closed: 503,
} as const satisfies Record<EpisodeServerErrorCode, number>

const EPISODE_STATUS: Partial<Record<EpisodeErrorCode, number>> = { episode_over: 409 }

export interface ErrorAnswer {
  readonly code: string
  readonly message: string
}

/**
 * Returns the HTTP response for an error, with a status, a stable code and a message.
 * @param bodyOf  writes the body in the format of a protocol
 */
export function errorResponse(error: unknown, bodyOf: (answer: ErrorAnswer) => unknown): Response {
  if (error instanceof EpisodeServerError) {
    const { code, detail } = error
    const retry = { 'retry-after': `${EPISODE_SERVER_LIMITS.retryAfterSeconds}` }
    const headers = code === 'too_many_episodes' ? retry : undefined
    return Response.json(bodyOf({ code, message: detail }), { status: STATUS[code], ...(headers ? { headers } : {}) })
  }
  if (error instanceof EpisodeError || error instanceof PresetError) {
    const status = (error instanceof EpisodeError && EPISODE_STATUS[error.code]) || 400
    return Response.json(bodyOf({ code: error.code, message: error.detail }), { status })
  }
  const message = error instanceof Error ? error.message : String(error)
  return Response.json(bodyOf({ code: 'internal', message }), { status: 500 })
}

/** Returns the response for an error in the JSON-RPC format of MCP. */
export const rpcError = (error: unknown): Response =>
  errorResponse(error, ({ code, message }) => ({
    jsonrpc: '2.0',
    error: { code: -32000, message, data: { code } },
    id: null,
  }))

/** Returns a tool in OpenAI's chat format. */
export const toolSchemaOf = ({ name, description, inputSchema }: OfferedTool): ToolSchema => ({
  type: 'function',
  function: { name, description, parameters: inputSchema },
})
