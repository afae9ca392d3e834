import { Hono } from 'hono'
import { z } from 'zod'
import { rewardPreset } from '../../../rollout/reward/index.js'
import { SPLITS } from '../../../tasks/dataset/index.js'
import type { OfferedTool } from '../../kernel/index.js'
import type { OpenEpisode } from '../episodes.js'
import { EpisodeServerError } from '../errors.js'
import { parseAs } from '../message.js'
import {
  type AroundCall,
  aroundCall,
  MESSAGE_KEY,
  messageOfParsedCall,
  REPLY_TOOL,
  toolResponse,
} from '../reply-tool.js'
import { REWARD_SIGNALS } from '../reward-signal.js'
import { errorResponse } from './answers.js'
import { chosenTask } from './episode-api.js'
import { clientOf, jsonBody } from './request.js'
import type { EpisodeService } from './service.js'

/** Action of OpenEnv's environments for tool calls. */
const openEnvAction = z.discriminatedUnion('type', [
  z.object({ type: z.literal('list_tools') }),
  z.object({
    type: z.literal('call_tool'),
    // The model writes these values, so any counts.
    tool_name: z.unknown(),
    arguments: z.unknown().optional(),
    metadata: z.record(z.string(), z.unknown()).nullish(),
  }),
])

const resetRequest = z.object({
  task: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
  split: z.enum(SPLITS).nullish(),
  index: z.int().min(0).nullish(),
  /** Index of the task if none is named, modulo the size of the split. */
  seed: z.int().min(0).nullish(),
  reward: z.string().nullish(),
  reward_signal: z.enum(REWARD_SIGNALS).nullish(),
})

const toolSpec = z.object({
  name: z.string(),
  description: z.string(),
  input_schema: z.record(z.string(), z.unknown()),
})

const observation = z.object({
  /** Offered tools, after a reset or `list_tools`. */
  tools: z.array(toolSpec).optional(),
  /** Called tool and its result, after a call. */
  tool_name: z.string().optional(),
  result: z.string().optional(),
  error: z.null().optional(),
  /** After a reset: description and opening messages of the episode. After a call: the score, if the signal reports it. */
  metadata: z.record(z.string(), z.unknown()),
})

const state = z.object({
  episode_id: z.string().nullable(),
  step_count: z.int().min(0),
  task: z.string().nullable(),
  over: z.boolean(),
})

/** Response to a reset or a step. */
export interface Observed {
  readonly observation: z.output<typeof observation>
  readonly reward: number | null
  readonly done: boolean
}

/** Opens an episode of the requested task. @throws EpisodeServerError, PresetError, EpisodeError */
export async function reset(
  service: EpisodeService,
  client: string,
  data: unknown,
): Promise<{ readonly id: string; readonly observed: Observed }> {
  const { tasks, episodes, defaults } = service
  const request = parseAs(resetRequest, data)
  const split = request.split ?? defaults.split
  const index = request.index ?? (request.seed ?? 0) % Math.max(1, tasks.count(split))
  const { id, episode, reward } = await episodes.open(client, {
    task: chosenTask(service, request.task == null ? { split, index } : { task: request.task }),
    reward: request.reward == null ? defaults.reward : rewardPreset(request.reward),
    signal: request.reward_signal ?? defaults.signal,
  })
  const { task, offered, opening: messages } = episode
  const metadata = { episode_id: id, task: task.id, kind: task.kind, reward: reward.name, messages }
  return { id, observed: { observation: { tools: specsOf(offered), metadata }, reward: null, done: false } }
}

/** Carries out an action. @param id  episode; null before the first reset, when only the reply tool exists */
export async function step({ episodes }: EpisodeService, id: string | null, data: unknown): Promise<Observed> {
  const action = parseAs(openEnvAction, data)
  if (action.type === 'list_tools') {
    const [offered, done] =
      id === null ? [[], false] : await episodes.use(id, async ({ episode }) => [episode.offered, episode.isOver])
    return { observation: { tools: specsOf(offered), metadata: {} }, reward: null, done }
  }
  if (id === null) throw new EpisodeServerError('unknown_episode', 'no episode is open: call reset first')
  const around = aroundCall(action.metadata?.[MESSAGE_KEY])
  return episodes.use(id, (open) => call(open, action.tool_name, action.arguments, around))
}

async function call(
  { episode, reportReward }: OpenEpisode,
  name: unknown,
  args: unknown,
  around: AroundCall,
): Promise<Observed> {
  const reaction = await episode.act(messageOfParsedCall(name, args, around))
  const { reward, scored } = reportReward()
  const metadata = scored === null ? {} : { ...scored }
  // A failure of the tool is a result. OpenEnv reserves `error` for failures of its transport.
  const observed = { tool_name: String(name), result: toolResponse(reaction).text, error: null, metadata }
  return { observation: observed, reward, done: episode.isOver }
}

/** Returns OpenEnv's state of an episode. @param id  null before the first reset */
export async function stateOf({ episodes }: EpisodeService, id: string | null): Promise<z.output<typeof state>> {
  if (id === null) return { episode_id: null, step_count: 0, task: null, over: false }
  return episodes.use(id, async ({ episode: { actions, task, isOver } }) => ({
    episode_id: id,
    step_count: actions.length,
    task: task.id,
    over: isOver,
  }))
}

const specsOf = (offered: readonly OfferedTool[]): z.output<typeof toolSpec>[] =>
  [...offered, REPLY_TOOL].map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: inputSchema,
  }))

const stepRequest = z.object({ action: z.unknown(), episode_id: z.string().nullish() })
const stateRequest = z.object({ episode_id: z.string().optional() })

/**
 * Creates OpenEnv's HTTP API. OpenEnv's own servers keep no state between requests. Here the metadata of a `/reset` observation contain an
 * `episode_id`, which `/step` and `/state` accept.
 */
export function openEnvApi(service: EpisodeService): Hono {
  const app = new Hono()
  app.get('/schema', () =>
    Response.json({
      action: z.toJSONSchema(openEnvAction, { io: 'input' }),
      observation: z.toJSONSchema(observation),
      state: z.toJSONSchema(state),
    }),
  )
  app.get('/metadata', () =>
    Response.json({
      name: 'prove',
      description: `${service.tasks.title}: tasks in stateful environments, with tools and a programmatic reward`,
    }),
  )
  app.post('/reset', async (context) => {
    const { observed } = await reset(service, clientOf(context), await jsonBody(context))
    return Response.json(observed)
  })
  app.post('/step', async (context) => {
    const { action, episode_id: id } = parseAs(stepRequest, await jsonBody(context))
    return Response.json(await step(service, id ?? null, action))
  })
  app.get('/state', async ({ req }) => {
    const { episode_id: id } = parseAs(stateRequest, req.query())
    return Response.json(await stateOf(service, id ?? null))
  })
  app.onError((error) => errorResponse(error, ({ code, message }) => ({ detail: `${code}: ${message}` })))
  return app
}
