import { z } from 'zod'
import type { JsonObject } from '../reward/index.js'
import { EnvironmentError } from './errors.js'
import { ENVIRONMENT_LIMITS } from './limits.js'
import type { Action } from './play.js'

/** Arguments as a program sends them: an object, or its JSON as a text, as OpenAI's chat format has it. */
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

const action: z.ZodType<Action> = z.union(
  [
    call.transform(({ name, arguments: args }) => ({ type: 'call' as const, name, arguments: args as JsonObject })),
    z
      .object({ unreadable: z.string().max(ENVIRONMENT_LIMITS.sayingChars) })
      .transform(({ unreadable }) => ({ type: 'unreadable' as const, raw: unreadable })),
    z
      .object({ say: z.string().max(ENVIRONMENT_LIMITS.sayingChars) })
      .transform(({ say }) => ({ type: 'say' as const, text: say })),
  ],
  { error: 'an action is {"name", "arguments"}, {"unreadable"} or {"say"}' },
)

/** Actions as they are sent: `{"name","arguments"}`, `{"unreadable"}` or `{"say"}`. */
export const actionSchema = action

/** @throws EnvironmentError `bad_request` that says what does not fit, and where */
export function parseAs<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw new EnvironmentError('bad_request', z.prettifyError(parsed.error).slice(0, 400))
  return parsed.data
}
