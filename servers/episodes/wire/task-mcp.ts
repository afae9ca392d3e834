import { Hono } from 'hono'
import { z } from 'zod'
import { EpisodeError } from '../../../rollout/episode/index.js'
import { PresetError, REWARD_PRESETS, rewardPreset } from '../../../rollout/reward/index.js'
import { SPLITS } from '../../../tasks/dataset/index.js'
import { jsonSchemaOf, type OfferedTool, type ToolResponse } from '../../kernel/index.js'
import type { OpenEpisode } from '../episodes.js'
import { EpisodeServerError } from '../errors.js'
import { parseAs, recordedMessages } from '../message.js'
import { aroundCall, MESSAGE_KEY, messageOfParsedCall, REPLY_TOOL, toolResponse } from '../reply-tool.js'
import { rpcError, toolSchemaOf } from './answers.js'
import { answerModelCalls, type ModelTools } from './model-calls.js'
import { clientOf } from './request.js'
import type { EpisodeService } from './service.js'

/** Argument that names the episode of a call. `prove-server mcp` uses the same name. */
const HANDLE = 'session'
const handle = z.string().min(1).max(80).describe('Session id from open or fork')
const session = z.strictObject({ [HANDLE]: handle })

const openInput = z.strictObject({
  task: z.string().optional().describe('Id of a task, instead of index'),
  index: z.int().min(0).optional().describe('Index of a task in its split'),
  split: z.enum(SPLITS).optional(),
  reward: z
    .enum([...REWARD_PRESETS.keys()])
    .optional()
    .describe('Reward preset of the episode'),
  actions: z
    .array(z.record(z.string(), z.unknown()))
    .max(256)
    .optional()
    .describe('Messages of an earlier episode, {"text", "calls"} each, which are replayed first'),
})

const OWN_TOOLS = {
  open: {
    description:
      'Open a task. Returns the session for all other tools, the opening messages, and the tools that the task offers.',
    input: openInput,
    readOnly: false,
  },
  fork: { description: 'Open another session in the same state.', input: session, readOnly: false },
  close: {
    description: 'Close a session. Returns its reward with components, and whether the task is solved.',
    input: session,
    readOnly: false,
  },
} as const

type OwnTool = keyof typeof OWN_TOOLS

/**
 * Serves MCP at `/mcp`, for clients without another protocol. The tool `open` opens a task, each call names its session, and `close` returns
 * the reward. No state belongs to the connection, so clients of both MCP eras work.
 */
export function taskMcp(service: EpisodeService): Hono {
  const tools = toolsOf(service)
  const app = new Hono()
  app.post('/mcp', (context) => answerModelCalls(context.req.raw, servedTo(clientOf(context), tools, service)))
  app.all('/mcp', () => new Response(null, { status: 405, headers: { allow: 'POST' } }))
  app.onError(rpcError)
  return app
}

/** Returns the tools `open`, `fork` and `close`, and every tool of any task with the session as an additional argument. */
function toolsOf({ tasks }: EpisodeService): OfferedTool[] {
  const offered = new Map<string, OfferedTool>()
  for (const split of tasks.splits)
    for (const task of tasks.range(split, 0, tasks.count(split)))
      for (const { environment, tool } of task.toolset)
        if (!offered.has(tool)) offered.set(tool, tasks.toolNamed(environment, tool))
  const own = Object.entries(OWN_TOOLS).map(([name, { description, input, readOnly }]) => ({
    name,
    description,
    inputSchema: jsonSchemaOf(input, 'input'),
    readOnly,
  }))
  return [...own, ...[...offered.values(), REPLY_TOOL].map(withHandle)]
}

function withHandle(tool: OfferedTool): OfferedTool {
  const {
    properties = {},
    required = [],
    ...rest
  } = tool.inputSchema as {
    readonly properties?: object
    readonly required?: readonly string[]
  }
  const argument = { type: 'string', description: handle.description }
  return {
    ...tool,
    inputSchema: { ...rest, properties: { [HANDLE]: argument, ...properties }, required: [HANDLE, ...required] },
  }
}

function servedTo(client: string, tools: readonly OfferedTool[], service: EpisodeService): ModelTools {
  const { tasks, episodes, defaults } = service
  const own: { readonly [N in OwnTool]: (args: z.output<(typeof OWN_TOOLS)[N]['input']>) => Promise<object> } = {
    async open({ task: id, index, split = defaults.split, reward, actions = [] }) {
      if ((id === undefined) === (index === undefined))
        throw new EpisodeServerError('bad_request', 'no task is named: give either task or index')
      const task = id === undefined ? tasks.at(split, index!) : tasks.named(id)
      return opened(
        await episodes.open(client, {
          task,
          reward: reward === undefined ? defaults.reward : rewardPreset(reward),
          signal: defaults.signal,
          actions: parseAs(recordedMessages, actions),
        }),
      )
    },
    fork: async (args) => opened(await episodes.fork(client, args[HANDLE]!)),
    async close(args) {
      const id = args[HANDLE]!
      const scored = await episodes.use(id, async ({ episode }) => ({ over: episode.isOver, ...episode.score() }))
      episodes.close(id)
      return scored
    },
  }
  const answered = async (
    name: string,
    { [HANDLE]: id, ...args }: Readonly<Record<string, unknown>>,
    meta: Readonly<Record<string, unknown>>,
  ): Promise<ToolResponse> => {
    if (Object.hasOwn(OWN_TOOLS, name)) {
      const given = parseAs<unknown>(
        OWN_TOOLS[name as OwnTool].input,
        id === undefined ? args : { ...args, [HANDLE]: id },
      )
      return {
        ok: true,
        text: JSON.stringify(await (own[name as OwnTool] as (args: unknown) => Promise<object>)(given)),
      }
    }
    const named = parseAs(handle, id)
    const message = messageOfParsedCall(name, args, aroundCall(meta[MESSAGE_KEY]))
    return episodes.use(named, async ({ episode }) => toolResponse(await episode.act(message)))
  }
  const counts = tasks.splits.map((split) => `${tasks.count(split)} ${split}`).join(', ')
  return {
    name: 'prove-tasks',
    instructions: `${tasks.title}. Tasks: ${counts}. Call open with a task and pass its session to every other tool. Do what the user asks, answer with ${REPLY_TOOL.name}, and close the session to get the reward. A task offers only the tools that open returns and those that later user turns add.`,
    tools,
    async call(name, args, meta) {
      try {
        return await answered(name, objectIn(args), meta)
      } catch (error) {
        if (error instanceof EpisodeServerError || error instanceof EpisodeError || error instanceof PresetError)
          return { ok: false, text: JSON.stringify({ error: error.code, message: error.detail }) }
        throw error
      }
    },
  }
}

/** Returns the arguments. Only an object can name a session. A schema would drop the key `__proto__`. */
function objectIn(args: unknown): Readonly<Record<string, unknown>> {
  if (args === undefined) return {}
  if (typeof args === 'object' && args !== null && !Array.isArray(args)) return args as Record<string, unknown>
  throw new EpisodeServerError('bad_request', `the arguments are no object: pass {"${HANDLE}", …}`)
}

const opened = ({ id, episode }: OpenEpisode): object => ({
  [HANDLE]: id,
  task: episode.task.id,
  messages: episode.opening,
  tools: [...episode.offered, REPLY_TOOL].map(toolSchemaOf),
  over: episode.isOver,
})
