import { Hono } from 'hono'
import { z } from 'zod'
import { bringsTools, parseTask, type Reaction, type Task } from '../../../rollout/episode/index.js'
import { rewardPreset } from '../../../rollout/reward/index.js'
import { SPLITS } from '../../../tasks/dataset/index.js'
import type { OpenEpisode } from '../episodes.js'
import { EPISODE_SERVER_LIMITS } from '../limits.js'
import { messageSchema, parseAs, recordedMessage, recordedMessages } from '../message.js'
import { openingOf } from '../play.js'
import { REPLY_TOOL } from '../reply-tool.js'
import { REWARD_SIGNALS } from '../reward-signal.js'
import { errorResponse, toolSchemaOf } from './answers.js'
import { clientOf, jsonBody } from './request.js'
import type { EpisodeService } from './service.js'

const index = z.coerce.number().int().min(0)

/** Choice of a task: its id, its index in a split, or the task itself. */
const taskChoice = z
  .object({
    task: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
    split: z.enum(SPLITS).optional(),
    index: index.optional(),
  })
  .refine((choice) => choice.task !== undefined || choice.index !== undefined, {
    error: 'no task is named: give "task" (an id or a whole task) or "index"',
  })

const openRequest = z.intersection(
  taskChoice,
  z.object({
    reward: z.string().optional(),
    reward_signal: z.enum(REWARD_SIGNALS).optional(),
    /** Messages of an earlier episode, which the server replays first. */
    actions: recordedMessages.default([]),
  }),
)

const page = z.object({
  split: z.enum(SPLITS).optional(),
  start: index.default(0),
  count: index.max(EPISODE_SERVER_LIMITS.tasksPerPage).default(100),
})

/** Returns the chosen task. @throws EpisodeServerError `unknown_task`; EpisodeError `bad_task` */
export function chosenTask({ tasks, defaults }: EpisodeService, choice: z.output<typeof taskChoice>): Task {
  if (choice.task === undefined) return tasks.at(choice.split ?? defaults.split, choice.index!)
  return typeof choice.task === 'string' ? tasks.named(choice.task) : parseTask(choice.task)
}

/**
 * Creates the JSON API for episodes, for programs without a framework's protocol:
 * `GET /tasks`, `GET /tasks/<id>`, `POST /episodes`, and for an episode `GET`, `DELETE`, `POST …/actions`, `POST …/fork`.
 */
export function episodeApi(service: EpisodeService): Hono {
  const { tasks, episodes, defaults } = service
  const app = new Hono()

  app.get('/tasks', ({ req }) => {
    const { split = defaults.split, start, count } = parseAs(page, req.query())
    return Response.json({
      split,
      count: tasks.count(split),
      splits: Object.fromEntries(tasks.splits.map((name) => [name, tasks.count(name)])),
      tasks: tasks
        .range(split, start, start + count)
        .map((task, i) => ({ id: task.id, split, index: start + i, kind: task.kind })),
    })
  })

  app.get('/tasks/:id', ({ req }) => {
    const task = tasks.named(req.param('id'))
    return Response.json({
      id: task.id,
      kind: task.kind,
      environments: task.environments,
      user_turns: task.turns.length,
      messages: openingOf(task),
      tools: tasks.toolsOf(task).map(toolSchemaOf),
      brings_tools: bringsTools(task),
      reply_tool: toolSchemaOf(REPLY_TOOL),
    })
  })

  app.post('/episodes', async (context) => {
    const {
      reward,
      reward_signal: signal = defaults.signal,
      actions,
      ...choice
    } = parseAs(openRequest, await jsonBody(context))
    const preset = reward === undefined ? defaults.reward : rewardPreset(reward)
    const task = chosenTask(service, choice)
    return describe(await episodes.open(clientOf(context), { task, reward: preset, signal, actions }), 201)
  })

  app.get('/episodes/:id', ({ req }) => episodes.use(req.param('id'), async (open) => describe(open)))

  app.post('/episodes/:id/actions', async (context) => {
    const message = parseAs(messageSchema, await jsonBody(context))
    return episodes.use(context.req.param('id'), async ({ episode, reportReward }) => {
      const reaction = await episode.act(message)
      const { reward, scored } = reportReward()
      const { isOver: over, end } = episode
      return Response.json({ ...reactionFields(reaction), over, end, reward, score: scored })
    })
  })

  app.post('/episodes/:id/fork', async (context) =>
    describe(await episodes.fork(clientOf(context), context.req.param('id')), 201),
  )

  app.delete('/episodes/:id', ({ req }) => {
    episodes.close(req.param('id'))
    return new Response(null, { status: 204 })
  })
  app.onError((error) => errorResponse(error, ({ code, message }) => ({ error: code, message })))
  return app
}

const reactionFields = ({ results, user, added }: Reaction) => ({ results, user, tools: added.map(toolSchemaOf) })

function describe({ id, episode, reward, signal }: OpenEpisode, status = 200): Response {
  const { task, offered, opening, actions, isOver, end } = episode
  return Response.json(
    {
      episode: id,
      task: task.id,
      kind: task.kind,
      environments: task.environments,
      reward: reward.name,
      reward_signal: signal,
      messages: opening,
      tools: offered.map(toolSchemaOf),
      actions: actions.map(recordedMessage),
      over: isOver,
      end,
      score: episode.score(),
    },
    { status },
  )
}
