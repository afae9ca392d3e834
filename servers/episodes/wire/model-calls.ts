import { answerMcpRequest, type CallAtAddress, type ToolsAtAddress } from '../../kernel/index.js'
import { readJson } from '../read-json.js'

/** Tools at one address that a language model calls. */
export interface ModelTools extends Omit<ToolsAtAddress, 'call'> {
  /** @param args  the arguments in any form, as the model wrote them */
  call(name: string, args: unknown, meta: Readonly<Record<string, unknown>>): Promise<CallAtAddress>
}

/** Key under which a request refers to the arguments that it had. */
const GIVEN = 'given'

/**
 * Answers a request of MCP whose calls a language model wrote. MCP's schema accepts only objects as arguments, but here every call counts.
 * So the arguments are taken out of the request before the schema reads it.
 */
export async function answerModelCalls(request: Request, served: ModelTools): Promise<Response> {
  const given: unknown[] = []
  return answerMcpRequest(withoutArguments(request, await request.text(), given), {
    ...served,
    call: (name, args, meta) => served.call(name, given[args[GIVEN] as number], meta),
  })
}

function withoutArguments(request: Request, text: string, given: unknown[]): Request {
  const { url, method } = request
  const headers = new Headers(request.headers)
  headers.delete('content-length')
  return new Request(url, { method, headers, body: rewritten(text, given), signal: request.signal })
}

/** Returns the text of the request without the arguments of its calls. A text that is not JSON is returned as it is, and MCP refuses it. */
function rewritten(text: string, given: unknown[]): string {
  let body: unknown
  try {
    body = readJson(text, 'the body')
  } catch {
    return text
  }
  for (const message of Array.isArray(body) ? body : [body]) {
    if (message?.method !== 'tools/call' || !isObject(message.params)) continue
    given.push(message.params.arguments)
    message.params.arguments = { [GIVEN]: given.length - 1 }
  }
  return JSON.stringify(body)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
