import * as assert from 'uvu/assert'
import type { Session } from '../../servers/kernel/session.js'

/** Calls as tests of a world make them. */
export type Call = readonly [tool: string, args: Record<string, unknown>]

/** What a tool answers. @throws when it refuses */
export function succeed(session: Session, ...[tool, args]: Call): Readonly<Record<string, unknown>> {
  const result = session.call(tool, args)
  if (!result.ok) throw new Error(`${tool} ${JSON.stringify(args)}: ${result.code}: ${result.message}`)
  return result.output
}

/** The code with which a tool refuses, `succeeded` if it does not. */
export function refusal(session: Session, ...[tool, args]: Call): string {
  const result = session.call(tool, args)
  return result.ok ? 'succeeded' : result.code
}

export function fails(session: Session, code: string, ...[tool, args]: Call): void {
  const result = session.call(tool, args)
  assert.is(result.ok ? JSON.stringify(result.output) : result.code, code)
}
