import { type ToolResponse, takesArguments } from '../../servers/kernel/index.js'
import type { JsonObject, LoggedCall } from '../reward/index.js'
import { describeBound, withResults } from './bound-values.js'
import type { ParsedCall } from './tool-call-format.js'
import type { RoutedTool } from './toolset.js'

/** Makes a call in the environment of the tool. */
export type CallEnvironment = (
  tool: RoutedTool,
  args: JsonObject,
  signal: AbortSignal,
) => ToolResponse | Promise<ToolResponse>

/** The result of a call: its entry in the scored log, and the JSON that the policy reads. */
export interface ExecutedCall {
  readonly entry: LoggedCall
  readonly payload: string
}

/**
 * Executes a call that passes validity levels 1 and 2, and answers any other call with an error that the policy can read.
 * @param turn  index of the current user turn: tools of later turns do not exist yet
 * @param earlier  results of the calls before this one in its message, from which the call may take values
 */
export async function executeCall(
  parsed: ParsedCall,
  offered: readonly RoutedTool[],
  turn: number,
  callEnvironment: (tool: RoutedTool, args: JsonObject) => ToolResponse | Promise<ToolResponse>,
  earlier: readonly ToolResponse[],
): Promise<ExecutedCall> {
  if (parsed.malformed)
    return { entry: parsed, payload: refusal('malformed_call', 'The call block could not be read.') }
  const call = withResults(parsed, earlier)
  // Without its values the call has no arguments that could be scored.
  if (!call || call.malformed)
    return {
      entry: { malformed: true, raw: describeBound(parsed) },
      payload: refusal('missing_value', 'A value that the call takes from an earlier result is not there.'),
    }
  const entry = { name: call.name, arguments: call.arguments, ok: false }
  const tool = offered.find(({ name }) => name === call.name)
  const isEarly = (tool?.from ?? 0) > turn
  if (!tool || isEarly) {
    const payload = refusal('unknown_tool', 'There is no such tool.')
    return { entry: isEarly ? { ...entry, early: true } : entry, payload }
  }
  if (!takesArguments(tool, call.arguments))
    return { entry, payload: refusal('invalid_arguments', 'The arguments do not fit.') }
  const { ok, text } = await callEnvironment(tool, withoutPrototype(call.arguments))
  return { entry: { ...entry, ok }, payload: text }
}

/** Removes the key `__proto__`, which MCP's parser of calls drops: calls over MCP and direct calls must have the same result. */
const withoutPrototype = (args: JsonObject): JsonObject =>
  Object.hasOwn(args, '__proto__')
    ? Object.fromEntries(Object.entries(args).filter(([key]) => key !== '__proto__'))
    : args

const refusal = (error: string, message: string): string => JSON.stringify({ error, message })
