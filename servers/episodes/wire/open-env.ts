import { Hono } from 'hono'
import { z } from 'zod'
import { rewardPreset } from '../../../rollout/reward/index.js'
import { SPLITS } from '../../../tasks/dataset/index.js'
import type { OfferedTool } from '../../kernel/index.js'
import { parseAs } from '../action.js'
import type { OpenEpisode } from '../episodes.js'
import { EpisodeServerError } from '../errors.js'
import { actionOf, REPLY_TOOL, textOf } from '../reply-tool.js'
import { REWARD_SIGNALS } from '../reward-signal.js'
import { errorResponse } from './answers.js'
import { chosenTask } from './episode-api.js'
import { clientOf, jsonBody } from './request.js'
import type { EpisodeService } from './service.js'

/** What OpenEnv's clients call an action: of environments whose actions are calls of tools. */
const openEnvAction = z.discriminatedUnion('type', [
  z.object({ type: z.literal('list_tools') }),
  z.object({
    type: z.literal('call_tool'),
    tool_name: z.string(),
    arguments: z.record(z.string(), z.unknown()).default({}),
  }),
])

const resetRequest = z.object({
  task: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
  split: z.enum(SPLITS).nullish(),
  index: z.int().min(0).nullish(),
  /** Where no task is named, the task at this place, counted round. */
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
  /** Of a reset, and of `list_tools`. */
  tools: z.array(toolSpec).optional(),
  /** Of a call: what the model reads. */
  tool_name: z.string().optional(),
  result: z.string().optional(),
  error: z.null().optional(),
  /** Of a reset, what the episode is and begins with; of a call, the score where the signal tells it. */
  metadata: z.record(z.string(), z.unknown()),
})

const state = z.object({
  episode_id: z.string().nullable(),
  step_count: z.int().min(0),
  task: z.string().nullable(),
  over: z.boolean(),
})

/** What a reset or a step comes to. */
export interface Observed {
  readonly observation: z.output<typeof observation>
  readonly reward: number | null
  readonly done: boolean
}

/** Opens the task that is meant. @throws EnvironmentError, PresetError, EpisodeError */
export async function reset(
  service: EpisodeService,
  client: string,
  data: unknown,
): Promise<{ readonly id: string; readonly observed: Observed }> {
  const { tasks, episodes, defaults } = service
  const asked = parseAs(resetRequest, data)
  const split = asked.split ?? defaults.split
  const index = asked.index ?? (asked.seed ?? 0) % Math.max(1, tasks.count(split))
  const { id, episode, reward } = await episodes.open(client, {
    task: chosenTask(service, asked.task == null ? { split, index } : { task: asked.task }),
    reward: asked.reward == null ? defaults.reward : rewardPreset(asked.reward),
    signal: asked.reward_signal ?? defaults.signal,
  })
  const { task, offered, opening: messages } = episode
  const metadata = { episode_id: id, task: task.id, kind: task.kind, reward: reward.name, messages }
  return { id, observed: { observation: { tools: specsOf(offered), metadata }, reward: null, done: false } }
}

/** @param id  null before the first reset: there are no tools but the one that all tasks have */
export async function step({ episodes }: EpisodeService, id: string | null, data: unknown): Promise<Observed> {
  const action = parseAs(openEnvAction, data)
  if (action.type === 'list_tools') {
    const [offered, done] =
      id === null ? [[], false] : await episodes.use(id, async ({ episode }) => [episode.offered, episode.isOver])
    return { observation: { tools: specsOf(offered), metadata: {} }, reward: null, done }
  }
  if (id === null) throw new EpisodeServerError('unknown_episode', 'reset comes first')
  return episodes.use(id, (open) => call(open, action.tool_name, action.arguments))
}

async function call(
  { episode, tell }: OpenEpisode,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<Observed> {
  const outcome = await episode.act(actionOf(name, args))
  const { reward, scored } = tell()
  const metadata = scored === null ? {} : { ...scored }
  // Failures of a tool are results here; `error` is for what lies between.
  const stated = { tool_name: name, result: textOf(outcome), error: null, metadata }
  return { observation: stated, reward, done: episode.isOver }
}

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
 * OpenEnv over single requests. Its own servers forget the environment between two of them; here `/reset` gives an `episode_id`, in the
 * observation's metadata, and `/step` and `/state` take it.
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
      description: `${service.tasks.title}: tasks in stateful worlds, with tools and a programmatic reward`,
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
