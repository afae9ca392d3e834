import type { Environment } from '../define-environment.js'
import { type CallResult, responseText, type Session } from '../session.js'
import type { JsonSchema } from '../tool-schema.js'
import { HOST_LIMITS } from './limits.js'

/** A tool in the words that both revisions of MCP share. */
export interface ListedTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
}

/** An answer to `tools/call`, likewise. */
export interface ToolAnswer {
  [key: string]: unknown
  content: { type: 'text'; text: string }[]
  structuredContent?: Record<string, unknown>
  isError?: boolean
  _meta?: Record<string, unknown>
}

/** Key of a call's `_meta`: with `true` in the request, the response carries the hash of the environment's state after the call. */
export const STATE_HASH = 'prove/stateHash'

export function toolAnswer(result: CallResult): ToolAnswer {
  const content: ToolAnswer['content'] = [{ type: 'text', text: responseText(result) }]
  return result.ok ? { content, structuredContent: { ...result.output } } : { isError: true, content }
}

/** Makes a call in a session. @param meta  the `_meta` of the request */
export function answerCall(
  session: Session,
  name: string,
  args: Readonly<Record<string, unknown>>,
  meta: Readonly<Record<string, unknown>> | undefined,
): ToolAnswer {
  const answer = toolAnswer(session.call(name, args))
  return meta?.[STATE_HASH] === true ? { ...answer, _meta: { [STATE_HASH]: session.stateHash() } } : answer
}

/** A page of a list of tools; null for a cursor that is none. The cursor is the number of tools already listed. */
export function pageOf<T>(tools: readonly T[], cursor = '0'): { tools: T[]; nextCursor?: string } | null {
  const from = Number(cursor)
  if (!/^\d{1,6}$/.test(cursor) || from > tools.length) return null
  const to = from + HOST_LIMITS.toolsPerPage
  return { tools: tools.slice(from, to), ...(to < tools.length ? { nextCursor: String(to) } : {}) }
}

export const notACursor = (cursor: string | undefined): string =>
  `${JSON.stringify(cursor)} is not a cursor of this list`

export const VERSION = '1.0.0'

/** Returns the name, title and version of a server with these environments. */
export function identityOf(environments: readonly Environment[]): { name: string; title: string; version: string } {
  const [first] = environments
  if (first && environments.length === 1) return { name: first.name, title: first.title, version: VERSION }
  return { name: 'prove', title: environments.map(({ title }) => title).join(', '), version: VERSION }
}
