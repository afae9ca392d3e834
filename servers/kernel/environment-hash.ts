import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { Environment } from './define-environment.js'
import { generateSeedState } from './session.js'
import { offeredTool } from './tool-schema.js'

/**
 * SHA-256 (hex) over what a world is to those who play in it: its tools as they are offered, its failures, and the rows it
 * starts with under one seed; and its code, if it comes from outside this package. Two programs whose worlds differ here cannot judge
 * each other's rollouts. What a tool of ours does is not in it: that is found out by replay.
 */
export function environmentSha256(environment: Environment): string {
  const { tables, tableNames } = generateSeedState(environment, 0)
  const rows = tableNames.map((name) => [name, tables.get(name)!.rows])
  const tools = environment.tools.map((tool) => offeredTool(tool))
  return createHash('sha256')
    .update(
      canonicalize({ name: environment.name, failures: environment.failures, tools, rows, ...codeOf(environment) })!,
    )
    .digest('hex')
}

/** For hashes over worlds: what those from outside this package have of their own. */
export const codeOf = ({ codeSha256 }: Environment): { readonly code?: string } =>
  codeSha256 === undefined ? {} : { code: codeSha256 }
