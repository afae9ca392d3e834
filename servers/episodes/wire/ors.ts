import { randomUUID } from 'node:crypto'
import { Hono } from 'hono'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { rewardPreset } from '../../../rollout/reward/index.js'
import { SPLITS, type Split } from '../../../tasks/dataset/index.js'
import type { OfferedTool } from '../../kernel/index.js'
import type { OpenEpisode } from '../episodes.js'
import { EpisodeServerError } from '../errors.js'
import { EPISODE_SERVER_LIMITS } from '../limits.js'
import { parseAs } from '../message.js'
import { aroundCall, messageOfParsedCall, REPLY_TOOL, toolResponse } from '../reply-tool.js'
import { REWARD_SIGNALS } from '../reward-signal.js'
import { errorResponse } from './answers.js'
import { clientOf, jsonBody } from './request.js'
import type { EpisodeService } from './service.js'

/** Name of this server's only ORS environment. Each task has its own environments and tools. */
export const ORS_ENVIRONMENT = 'prove'

/** Types of the splits in the Open Reward Standard. */
const SPLIT_TYPES = { train: 'train', validation: 'validation', 'held-out': 'test' } as const satisfies Record<
  Split,
  string
>

/** Characters of a call's result in one event. */
const CHUNK_CHARS = 4096
/** Time during which a client whose connection broke can fetch a result again. */
const LINGER_MS = 60_000
const LINGERING = 4096

const split = z.object({ split: z.enum(SPLITS) })
const index = z.int().min(0)
const range = split.extend({ start: index.nullish(), stop: index.nullish() })
const taskSpec = z.looseObject({
  task: z.string(),
  reward: z.string().nullish(),
  reward_signal: z.enum(REWARD_SIGNALS).nullish(),
})
const createRequest = z.object({
  task_spec: taskSpec.nullish(),
  split: z.enum(SPLITS).nullish(),
  index: index.nullish(),
})
/** A call of a model: it writes name and input, and any value of them counts. `message`: see `aroundCall`. */
const toolCall = z.object({ name: z.unknown(), input: z.unknown().optional(), message: z.unknown().optional() })
const lostCall = z.object({ task_id: z.string() })

/** Creates an API of the Open Reward Standard (openrewardstandard.io): tasks, sessions, tools and rewards over HTTP, with results as event streams. */
export function orsApi(service: EpisodeService): Hono {
  const { tasks, episodes, defaults } = service
  const app = new Hono()
  /** Episode ids by session id. A client gets a session before it chooses a task. */
  const sessions = new LRUCache<string, string>({ max: 2 * EPISODE_SERVER_LIMITS.episodes })
  const results = new LRUCache<string, string>({ max: LINGERING, ttl: LINGER_MS })

  const sidOf = (request: Request): string => {
    const sid = request.headers.get('x-session-id')?.trim() ?? ''
    if (!/^[\w-]{1,128}$/.test(sid))
      throw new EpisodeServerError(
        'bad_request',
        'the header X-Session-ID is missing or malformed: send the id from /create_session',
      )
    return sid
  }
  const inSession = <T>(request: Request, work: (open: OpenEpisode) => Promise<T>): Promise<T> => {
    const sid = sidOf(request)
    const id = sessions.get(sid)
    if (id === undefined)
      throw new EpisodeServerError('unknown_episode', `the session ${sid} has no task: call /create first`)
    return episodes.use(id, work)
  }
  const specs = (name: Split, start: number, stop: number) =>
    tasks.range(name, start, stop).map(({ id, kind }, i) => ({ task: id, kind, split: name, index: start + i }))

  app.get('/list_environments', () => Response.json([ORS_ENVIRONMENT]))
  app.post('/create_session', () =>
    eventStream([
      ['task_id', randomUUID()],
      ['end', ''],
    ]),
  )
  app.post('/delete_session', ({ req }) => Response.json({ sid: sidOf(req.raw) }))

  app.post('/create', async (context) => {
    const sid = sidOf(context.req.raw)
    if (sessions.has(sid))
      throw new EpisodeServerError('bad_request', `the session ${sid} already has a task: create another session`)
    const { task_spec: spec, split, index } = parseAs(createRequest, await jsonBody(context))
    const place = split != null && index != null ? { split, index } : null
    if ((spec == null) === (place === null))
      throw new EpisodeServerError('bad_request', 'no task is named: give either task_spec, or both split and index')
    const { id } = await episodes.open(clientOf(context), {
      task: spec == null ? tasks.at(place!.split, place!.index) : tasks.named(spec.task),
      reward: spec?.reward == null ? defaults.reward : rewardPreset(spec.reward),
      signal: spec?.reward_signal ?? defaults.signal,
    })
    sessions.set(sid, id)
    return Response.json({ sid })
  })
  app.post('/ping', ({ req }) => inSession(req.raw, async () => Response.json({ status: 'ok' })))
  app.post('/delete', ({ req }) => {
    const sid = sidOf(req.raw)
    const id = sessions.get(sid)
    sessions.delete(sid)
    // The server may have evicted the episode already.
    if (id !== undefined && episodes.has(id)) episodes.close(id)
    return Response.json({ sid })
  })

  const of = new Hono()
  of.get('/tools', () => Response.json({ tools: [toolSpec(REPLY_TOOL)] }))
  of.get('/splits', () => Response.json(tasks.splits.map((name) => ({ name, type: SPLIT_TYPES[name] }))))
  of.post('/tasks', async (context) => {
    const { split: name } = parseAs(split, await jsonBody(context))
    return Response.json({ tasks: specs(name, 0, tasks.count(name)), env_name: ORS_ENVIRONMENT })
  })
  of.post('/num_tasks', async (context) => {
    const { split: name } = parseAs(split, await jsonBody(context))
    return Response.json({ num_tasks: tasks.count(name) })
  })
  of.post('/task', async (context) => {
    const { split: name, index: at } = parseAs(split.extend({ index }), await jsonBody(context))
    tasks.at(name, at)
    return Response.json({ task: specs(name, at, at + 1)[0] })
  })
  of.post('/task_range', async (context) => {
    const { split: name, start, stop } = parseAs(range, await jsonBody(context))
    return Response.json({ tasks: specs(name, start ?? 0, stop ?? tasks.count(name)) })
  })
  of.get('/task_tools', ({ req }) =>
    inSession(req.raw, async ({ episode }) => Response.json({ tools: [REPLY_TOOL, ...episode.offered].map(toolSpec) })),
  )
  of.get('/prompt', ({ req }) =>
    inSession(req.raw, async ({ episode }) =>
      Response.json(episode.opening.map(({ role, content }) => ({ type: 'text', text: content, detail: { role } }))),
    ),
  )
  of.post('/call', async (context) => {
    const body = await jsonBody(context)
    const lost = lostCall.safeParse(body)
    if (lost.success) {
      const result = results.get(lost.data.task_id)
      return eventStream(
        result === undefined ? [['error', 'unknown task_id']] : resultEvents(lost.data.task_id, result),
      )
    }
    const { name, input, message } = parseAs(toolCall, body)
    const called = messageOfParsedCall(name, input, aroundCall(message))
    return inSession(context.req.raw, async ({ episode, reportReward }) => {
      const reaction = await episode.act(called)
      const { reward, scored } = reportReward()
      const metadata = scored === null ? null : { ...scored }
      const output = { blocks: [textBlock(toolResponse(reaction).text)], metadata, reward, finished: episode.isOver }
      const result = JSON.stringify({ ok: true, output })
      const id = randomUUID()
      results.set(id, result)
      return eventStream(resultEvents(id, result))
    })
  })
  app.route(`/${ORS_ENVIRONMENT}`, of)
  // Paths without an environment refer to the only one.
  for (const { path } of of.routes) app.all(path, ({ redirect }) => redirect(`/${ORS_ENVIRONMENT}${path}`, 308))
  app.onError((error) => errorResponse(error, ({ code, message }) => ({ detail: `${code}: ${message}` })))
  return app
}

const toolSpec = ({ name, description, inputSchema }: OfferedTool) => ({ name, description, input_schema: inputSchema })
const textBlock = (text: string) => ({ type: 'text', text, detail: null })

type ServerEvent = readonly [event: string, data: string]

/** Splits a result into events. No chunk begins with a space, because parsers remove a space at the beginning of an event's data. */
function resultEvents(id: string, result: string): ServerEvent[] {
  const events: ServerEvent[] = [['task_id', id]]
  for (let from = 0; from < result.length; ) {
    let to = Math.min(result.length, from + CHUNK_CHARS)
    while (to < result.length && (result[to] === ' ' || /[\udc00-\udfff]/.test(result[to]!))) to += 1
    events.push([to === result.length ? 'end' : 'chunk', result.slice(from, to)])
    from = to
  }
  return events
}

const eventStream = (events: readonly ServerEvent[]): Response =>
  new Response(events.map(([event, data]) => `event: ${event}\ndata: ${data}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
  })
