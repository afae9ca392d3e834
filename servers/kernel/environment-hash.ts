import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { ServerDefinition } from './define-environment.js'
import { generateWorld } from './session.js'
import { offeredTool } from './tool-schema.js'

/**
 * SHA-256 (hex) over what a world is to those who play in it: its tools as they are offered, its failures, and the rows it
 * starts with under one seed; and its code, if it comes from outside this package. Two programs whose worlds differ here cannot judge
 * each other's rollouts. What a tool of ours does is not in it: that is found out by replay.
 */
export function worldSha256(server: ServerDefinition): string {
  const { tables, tableNames } = generateWorld(server, 0)
  const rows = tableNames.map((name) => [name, tables.get(name)!.rows])
  const tools = server.tools.map((tool) => offeredTool(tool))
  return createHash('sha256')
    .update(canonicalize({ name: server.name, failures: server.failures, tools, rows, ...codeOf(server) })!)
    .digest('hex')
}

/** For hashes over worlds: what those from outside this package have of their own. */
export const codeOf = ({ codeSha256 }: ServerDefinition): { readonly code?: string } =>
  codeSha256 === undefined ? {} : { code: codeSha256 }
