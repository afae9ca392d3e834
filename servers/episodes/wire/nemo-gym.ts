import { randomUUID } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Task } from '../../../rollout/episode/index.js'
import { SPLITS } from '../../../tasks/dataset/index.js'
import { parseAs } from '../action.js'
import { EpisodeServerError } from '../errors.js'
import { EPISODE_SERVER_LIMITS } from '../limits.js'
import { actionOf, REPLY_TOOL, textOf } from '../reply-tool.js'
import { errorResponse } from './answers.js'
import { clientOf, jsonBody } from './request.js'
import type { EpisodeService } from './service.js'

const COOKIE = 'prove_session'

const seeding = z.looseObject({ verifier_metadata: z.looseObject({ task: z.string() }) })
const args = z.record(z.string(), z.unknown())
const rows = z.object({ split: z.enum(SPLITS).optional() })

/**
 * Creates a resources server for NeMo Gym. `POST /seed_session` opens the task of a row, `POST /<tool>` calls a tool, and `POST /verify`
 * returns the request with the reward and its components. A cookie identifies the session. `GET /nemo_gym.jsonl` returns the rows.
 */
export function nemoGymApi({ tasks, episodes, defaults }: EpisodeService): Hono {
  const app = new Hono()
  const sessions = new LRUCache<string, string>({ max: 2 * EPISODE_SERVER_LIMITS.episodes })
  const episodeOf = (context: Context): string => {
    const id = sessions.get(getCookie(context, COOKIE) ?? '')
    if (id === undefined)
      throw new EpisodeServerError('unknown_episode', 'no session for this cookie: call seed_session first')
    return id
  }

  app.get('/nemo_gym.jsonl', ({ req }) => {
    const { split = defaults.split } = parseAs(rows, req.query())
    const lines = tasks
      .range(split, 0, tasks.count(split))
      .map((task) => `${JSON.stringify(rowOf(task, tasks.toolsOf(task)))}\n`)
    return new Response(lines.join(''), { headers: { 'content-type': 'application/jsonl' } })
  })

  app.post('/seed_session', async (context) => {
    const { verifier_metadata: row } = parseAs(seeding, await jsonBody(context))
    const { id } = await episodes.open(clientOf(context), { ...defaults, task: tasks.named(row.task) })
    const sid = getCookie(context, COOKIE) ?? randomUUID()
    sessions.set(sid, id)
    setCookie(context, COOKIE, sid, { httpOnly: true, sameSite: 'Strict' })
    return context.json({})
  })

  app.post('/verify', async (context) => {
    const request = parseAs(args, await jsonBody(context))
    return episodes.use(episodeOf(context), async ({ episode }) => {
      const { total, components, solved } = episode.score()
      return Response.json({ ...request, reward: total, reward_components: components ?? {}, solved })
    })
  })

  app.post('/:tool{[a-z][a-z0-9_]*}', async (context) => {
    const input = parseAs(args, await jsonBody(context))
    return episodes.use(episodeOf(context), async ({ episode }) => {
      const outcome = await episode.act(actionOf(context.req.param('tool'), input))
      const type = outcome.type === 'result' ? 'application/json' : 'text/plain; charset=utf-8'
      return new Response(textOf(outcome), { headers: { 'content-type': type } })
    })
  })
  app.onError((error) => errorResponse(error, ({ code, message }) => ({ detail: `${code}: ${message}` })))
  return app
}

/** Returns a data set row in the form of OpenAI's Responses API. A task with several user turns also offers the reply tool. */
function rowOf({ id, system, turns }: Task, offered: ReturnType<EpisodeService['tasks']['toolsOf']>): unknown {
  const tools = turns.length > 1 ? [...offered, REPLY_TOOL] : offered
  return {
    responses_create_params: {
      input: [
        ...(system === undefined ? [] : [{ role: 'system', content: system }]),
        { role: 'user', content: turns[0] },
      ],
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: 'function',
        name,
        description,
        parameters: inputSchema,
        strict: false,
      })),
    },
    verifier_metadata: { task: id },
  }
}
