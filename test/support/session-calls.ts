import * as assert from 'uvu/assert'
import type { Session } from '../../servers/kernel/session.js'

/** Calls in tests of an environment. */
export type Call = readonly [tool: string, args: Record<string, unknown>]

/** Returns the answer of a tool. @throws Error if the call fails */
export function succeed(session: Session, ...[tool, args]: Call): Readonly<Record<string, unknown>> {
  const result = session.call(tool, args)
  if (!result.ok) throw new Error(`${tool} ${JSON.stringify(args)}: ${result.code}: ${result.message}`)
  return result.output
}

/** Returns the error code of a call, or `succeeded`. */
export function refusal(session: Session, ...[tool, args]: Call): string {
  const result = session.call(tool, args)
  return result.ok ? 'succeeded' : result.code
}

export function fails(session: Session, code: string, ...[tool, args]: Call): void {
  const result = session.call(tool, args)
  assert.is(result.ok ? JSON.stringify(result.output) : result.code, code)
}
