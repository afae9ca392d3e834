import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { Environment } from './define-environment.js'
import { generateSeedState } from './session.js'
import { offeredTool } from './tool-schema.js'

/**
 * Returns the SHA-256 (hex) over an environment as a policy sees it. The hash covers the offered tools, the failures and the rows of one
 * seed. It covers the code only if the environment comes from outside this package. Two programs with different hashes cannot verify each
 * other's rollouts. The hash does not cover how a tool of this package works, which replay finds out, and it does not cover speech.
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

/** Returns the part of a hash that only environments from outside this package have. */
export const codeOf = ({ codeSha256 }: Environment): { readonly code?: string } =>
  codeSha256 === undefined ? {} : { code: codeSha256 }
