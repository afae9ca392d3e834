import { randomUUID } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { countOf } from '../../../common/errors/index.js'
import type { Task } from '../../../rollout/episode/index.js'
import { SPLITS } from '../../../tasks/dataset/index.js'
import { EpisodeServerError } from '../errors.js'
import { EPISODE_SERVER_LIMITS } from '../limits.js'
import { parseAs } from '../message.js'
import type { Episode } from '../play.js'
import { readJson } from '../read-json.js'
import { messageOfCall, REPLY_TOOL, toolResponse } from '../reply-tool.js'
import { errorResponse } from './answers.js'
import { clientOf, jsonBody } from './request.js'
import { finishedResponse, messagesIn } from './response-messages.js'
import type { EpisodeService } from './service.js'

const COOKIE = 'prove_session'
const VERIFY_PATH = '/verify'
/** Prefix of every path with `observability_enabled`, which NeMo Gym's own resources servers ignore too. */
const ROLLOUT_PREFIX = /^\/ng-rollout\/[A-Za-z0-9][\w.-]*(?=\/)/
const withoutPrefix = (path: string): string => path.replace(ROLLOUT_PREFIX, '')
const withPrefix = (path: string): string[] => [path, `/ng-rollout/:rollout${path}`]

/** Whether requests of a path contain a whole response. */
export const isVerifyPath = (path: string): boolean => withoutPrefix(path) === VERIFY_PATH

const seeding = z.looseObject({ verifier_metadata: z.looseObject({ task: z.string() }) })
const verifying = seeding.extend({ response: finishedResponse })
const rows = z.object({ split: z.enum(SPLITS).optional() })

/**
 * Creates a resources server for NeMo Gym. `POST /seed_session` opens the task of a row, `POST /<tool>` calls a tool, and `POST /verify`
 * returns the request with the reward and its components. A cookie identifies the session. `GET /nemo_gym.jsonl` returns the rows.
 *
 * The model chooses the path of a call, so every POST request with the cookie is a call on any path. Only requests with the id of a task,
 * which no prompt contains, seed and verify. So these routes have to be the first of a server.
 */
export function nemoGymApi(service: EpisodeService): Hono {
  const { tasks, episodes, defaults } = service
  const app = new Hono()
  const sessions = new LRUCache<string, string>({ max: 2 * EPISODE_SERVER_LIMITS.episodes })

  const isTask = (body: unknown): boolean => {
    const { data } = seeding.safeParse(body)
    return data !== undefined && tasks.has(data.verifier_metadata.task)
  }
  const seed = async (context: Context, body: unknown): Promise<Response> => {
    const { verifier_metadata: row } = parseAs(seeding, body)
    const { id } = await episodes.open(clientOf(context), { ...defaults, task: tasks.named(row.task) })
    const sid = getCookie(context, COOKIE) ?? randomUUID()
    sessions.set(sid, id)
    keepCookie(context, sid)
    return context.json({})
  }

  app.get('/nemo_gym.jsonl', ({ req }) => {
    const { split = defaults.split } = parseAs(rows, req.query())
    const lines = tasks
      .range(split, 0, tasks.count(split))
      .map((task) => `${JSON.stringify(rowOf(task, tasks.toolsOf(task)))}\n`)
    return new Response(lines.join(''), { headers: { 'content-type': 'application/jsonl' } })
  })

  app.post('*', async (context, next) => {
    const sid = getCookie(context, COOKIE)
    if (sid === undefined) return next()
    const path = withoutPrefix(context.req.path)
    const text = await context.req.text()
    const body = path === '/seed_session' || path === VERIFY_PATH ? readOrNull(text) : null
    if (path === '/seed_session' && isTask(body)) return seed(context, body)
    keepCookie(context, sid)
    const id = sessions.get(sid)
    if (id === undefined)
      throw new EpisodeServerError('unknown_episode', 'no session for this cookie: call seed_session first')
    return episodes.use(id, ({ episode }) =>
      path === VERIFY_PATH && seeding.safeParse(body).data?.verifier_metadata.task === episode.task.id
        ? verified(context, body, episode)
        : called(context, text, episode),
    )
  })
  app.on('POST', withPrefix('/seed_session'), async (context) => seed(context, await jsonBody(context)))
  app.on('POST', withPrefix(VERIFY_PATH), () => {
    throw new EpisodeServerError('unknown_episode', 'the request has no cookie of a session: call seed_session first')
  })
  app.onError((error, context) => {
    const answer = errorResponse(error, ({ code, message }) => ({ detail: `${code}: ${message}` }))
    return context.newResponse(answer.body, answer)
  })
  return app
}

/** NeMo Gym's client sends the cookies of the last response only. */
const keepCookie = (context: Context, sid: string): void =>
  setCookie(context, COOKIE, sid, { httpOnly: true, sameSite: 'Strict' })

/** Parses the body of a request that the model may have written; null if it is not JSON. */
function readOrNull(text: string): unknown {
  try {
    return readJson(text, 'the body')
  } catch {
    return null
  }
}

/** Makes a call: the path is its name, and the body its arguments. */
async function called(context: Context, text: string, episode: Episode): Promise<Response> {
  const { pathname, search } = new URL(context.req.url)
  // NeMo Gym's client sends no body for `null`. Messages are unknown before /verify, so here all calls are one message.
  const message = messageOfCall(decoded(withoutPrefix(pathname).slice(1)) + search, text === '' ? null : text, {
    more: true,
  })
  const { text: result } = toolResponse(await episode.act(message))
  const type = message.calls.length > 0 ? 'application/json' : 'text/plain; charset=utf-8'
  return context.body(result, 200, { 'content-type': type })
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Plays the messages of the request's response again, and returns the request with their reward. */
async function verified(context: Context, body: unknown, episode: Episode): Promise<Response> {
  const { response, ...row } = parseAs(verifying, body)
  const played = await episode.playAgain(messagesIn(response))
  if (played.calls.length < distinctCalls(episode) && !played.isOver)
    throw new EpisodeServerError(
      'bad_request',
      `the session made ${countOf(episode.calls.length, 'call')}, and the output of the response has ${played.calls.length}: send the whole response`,
    )
  const { total, components, solved } = played.score()
  return context.json({ ...row, response, reward: total, reward_components: components ?? {}, solved })
}

/** Returns the number of calls, where a repetition of the last call may be a repeated request. */
const distinctCalls = ({ calls }: Episode): number => {
  const texts = calls.map((call) => JSON.stringify(call))
  return texts.filter((text, i) => text !== texts[i - 1]).length
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
