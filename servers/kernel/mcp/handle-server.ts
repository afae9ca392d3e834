import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import type { ServerDefinition } from '../define-environment.js'
import { callRefused, type Session } from '../session.js'
import { answerCall, identityOf, type ListedTool, notACursor, pageOf, type ToolAnswer, toolAnswer } from './answers.js'
import type { Asker, Handles } from './handles.js'
import { instructionsOf } from './instructions.js'
import type { WorldOffer } from './server.js'

type Call = (
  name: string,
  args: Readonly<Record<string, unknown>>,
  meta: Readonly<Record<string, unknown>> | undefined,
) => ToolAnswer

/** An MCP server of SDK 2 with these tools. */
function toolServer(offer: WorldOffer, tools: readonly ListedTool[], instructions: string, call: Call): Server {
  const server = new Server(identityOf(offer.servers), { capabilities: { tools: {} }, instructions })
  server.setRequestHandler('tools/list', ({ params }) => {
    const page = pageOf(tools, params?.cursor)
    if (page) return page as never
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, notACursor(params?.cursor))
  })
  server.setRequestHandler('tools/call', ({ params }) => call(params.name, params.arguments ?? {}, params._meta))
  return server
}

/** For one request, or one line, of MCP 2026-07-28: every call names its session. */
export function createHandleServer(offer: WorldOffer, handles: Handles, asker: Asker): Server {
  const instructions = `${instructionsOf(offer.servers)}\n\nCall open first. It answers with a session, which every other call takes as an argument.`
  return toolServer(offer, handles.tools, instructions, (name, args, meta) => handles.call(asker, name, args, meta))
}

/** For a line of an earlier MCP, which has one session. */
export function createLineServer(offer: WorldOffer, sessionOf: (world: ServerDefinition) => Session): Server {
  return toolServer(offer, offer.tools, instructionsOf(offer.servers), (name, args, meta) => {
    const world = offer.serverOf(name)
    if (!world) return toolAnswer(callRefused('unknown_tool', `There is no tool called ${name}.`))
    return answerCall(sessionOf(world), name, args, meta)
  })
}
