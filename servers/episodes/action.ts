import { z } from 'zod'
import { understoodSchema } from '../../rollout/episode/index.js'
import type { JsonObject } from '../../rollout/reward/index.js'
import { EpisodeServerError } from './errors.js'
import { EPISODE_SERVER_LIMITS } from './limits.js'
import type { Action } from './play.js'

/** Arguments of a call: an object, or JSON text of an object as in OpenAI's chat format. */
export const callArguments = z.union([
  z.record(z.string(), z.unknown()),
  z.string().transform((text, context) => {
    try {
      return z.record(z.string(), z.unknown()).parse(JSON.parse(text))
    } catch {
      context.addIssue({ code: 'custom', message: 'arguments must be a JSON object' })
      return z.NEVER
    }
  }),
])

const call = z.object({ name: z.string(), arguments: callArguments.default({}) })

const unreadable = z.object({ unreadable: z.string().max(EPISODE_SERVER_LIMITS.sayingChars) })
const say = z.object({ say: z.string().max(EPISODE_SERVER_LIMITS.sayingChars) })

const anyOf = (saying: z.ZodType<Extract<Action, { type: 'say' }>>): z.ZodType<Action> =>
  z.union(
    [
      call.transform(({ name, arguments: args }) => ({ type: 'call' as const, name, arguments: args as JsonObject })),
      unreadable.transform(({ unreadable: raw }) => ({ type: 'unreadable' as const, raw })),
      saying,
    ],
    { error: 'an action is {"name", "arguments"}, {"unreadable"} or {"say"}' },
  )

/** Schema of a new action: `{"name","arguments"}`, `{"unreadable"}` or `{"say"}`. */
export const actionSchema = anyOf(say.transform(({ say: text }) => ({ type: 'say', text })))

/** Schema of a recorded action. A message may contain the decision of a user simulator: `{"say", "understood": {"asked", "by", "problems"}}`. */
export const recordedActionSchema = anyOf(
  say
    .extend({ understood: understoodSchema.exactOptional() })
    .transform(({ say: text, ...rest }) => ({ type: 'say', text, ...rest })),
)

/** Returns an action in the form that `recordedActionSchema` parses. */
export function recordedAction(action: Action): object {
  if (action.type === 'call') return { name: action.name, arguments: action.arguments }
  if (action.type === 'unreadable') return { unreadable: action.raw }
  return { say: action.text, ...(action.understood ? { understood: action.understood } : {}) }
}

/** Parses a value. @throws EpisodeServerError `bad_request` that names each wrong field */
export function parseAs<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw new EpisodeServerError('bad_request', z.prettifyError(parsed.error).slice(0, 400))
  return parsed.data
}
