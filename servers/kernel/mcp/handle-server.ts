import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import type { Environment } from '../define-environment.js'
import { callRefused, type Session } from '../session.js'
import { answerCall, identityOf, type ListedTool, notACursor, pageOf, type ToolAnswer, toolAnswer } from './answers.js'
import type { Asker, Handles } from './handles.js'
import { instructionsOf } from './instructions.js'
import type { EnvironmentOffer } from './server.js'

type Call = (
  name: string,
  args: Readonly<Record<string, unknown>>,
  meta: Readonly<Record<string, unknown>> | undefined,
) => ToolAnswer

/** An MCP server of SDK 2 with these tools. */
function toolServer(offer: EnvironmentOffer, tools: readonly ListedTool[], instructions: string, call: Call): Server {
  const server = new Server(identityOf(offer.environments), { capabilities: { tools: {} }, instructions })
  server.setRequestHandler('tools/list', ({ params }) => {
    const page = pageOf(tools, params?.cursor)
    if (page) return page as never
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, notACursor(params?.cursor))
  })
  server.setRequestHandler('tools/call', ({ params }) => call(params.name, params.arguments ?? {}, params._meta))
  return server
}

/** For one request, or one line, of MCP 2026-07-28: every call names its session. */
export function createHandleServer(offer: EnvironmentOffer, handles: Handles, asker: Asker): Server {
  const instructions = `${instructionsOf(offer.environments)}\n\nCall open first. It answers with a session, which every other call takes as an argument.`
  return toolServer(offer, handles.tools, instructions, (name, args, meta) => handles.call(asker, name, args, meta))
}

/** For a line of an earlier MCP, which has one session. */
export function createLineServer(offer: EnvironmentOffer, sessionOf: (environment: Environment) => Session): Server {
  return toolServer(offer, offer.tools, instructionsOf(offer.environments), (name, args, meta) => {
    const environment = offer.environmentOf(name)
    if (!environment) return toolAnswer(callRefused('unknown_tool', `There is no tool called ${name}.`))
    return answerCall(sessionOf(environment), name, args, meta)
  })
}
