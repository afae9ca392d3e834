import { z } from 'zod'
import { type AssistantMessage, callOf, type ParsedCall, understoodSchema } from '../../rollout/episode/index.js'
import { EpisodeServerError } from './errors.js'

/** Returns an unreadable call. @param written  the text that the model wrote, or the value that stands for it */
export const unreadableCall = (written: unknown): ParsedCall => ({
  malformed: true,
  raw: typeof written === 'string' ? written : (JSON.stringify(written) ?? ''),
})

/**
 * Reads a call whose values a model wrote. Arguments are an object, or the JSON text of an object as in OpenAI's chat format. Absent
 * arguments and an empty text are `{}`. Every other value makes the call unreadable, as in training.
 */
export function readCall(name: unknown, args: unknown): ParsedCall {
  const given = typeof args === 'string' ? argumentsIn(args) : args
  return callOf(name, given === undefined ? {} : given) ?? unreadableCall({ name, arguments: args })
}

/** Parses the text of arguments. @returns  undefined for an empty text, and null for a text that is not JSON */
function argumentsIn(text: string): unknown {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Schema of a call. The client chooses its keys, and the model its values: other keys are an error, and any value is read. */
export const callSchema = z.unknown().transform((written, context): ParsedCall => {
  const entries = typeof written === 'object' && written !== null ? new Map(Object.entries(written)) : new Map()
  if (entries.size === 1 && entries.has('unreadable')) return unreadableCall(entries.get('unreadable'))
  const keys = entries.has('arguments') ? 2 : 1
  if (entries.has('name') && entries.size === keys) return readCall(entries.get('name'), entries.get('arguments'))
  context.addIssue({ code: 'custom', message: 'a call is {"name", "arguments"} or {"unreadable"}' })
  return z.NEVER
})

const message = z.strictObject({
  text: z.string().nullish(),
  calls: z.array(callSchema).nullish(),
  more: z.boolean().nullish(),
})

/** @throws a zod issue for an object with neither text nor calls */
function messageOf(
  { text, calls, more, ...rest }: z.output<typeof message> & Pick<AssistantMessage, 'understood'>,
  context: z.RefinementCtx,
): AssistantMessage {
  if (text === undefined && calls === undefined)
    context.addIssue({ code: 'custom', message: 'a message has "text", "calls" or both' })
  return { text: text ?? '', calls: calls ?? [], ...(more ? { more } : {}), ...rest }
}

/** Schema of a new message: `{"text", "calls", "more"}`. */
export const messageSchema = message.transform(messageOf)

/** Schema of a recorded message, which may contain the decision of a user simulator: `"understood": {"asked", "by", "problems"}`. */
export const recordedMessageSchema = message
  .extend({ understood: understoodSchema.exactOptional() })
  .transform(messageOf)

/** Schema of recorded messages. An episode of any run has fewer. */
export const recordedMessages = z.array(recordedMessageSchema).max(256)

/** Returns a message in the form that `recordedMessageSchema` parses. */
export const recordedMessage = ({ text, calls, ...rest }: AssistantMessage): object => ({
  text,
  calls: calls.map((call) =>
    call.malformed ? { unreadable: call.raw } : { name: call.name, arguments: call.arguments },
  ),
  ...rest,
})

/** Parses a value. @throws EpisodeServerError `bad_request` that names each wrong field */
export function parseAs<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw new EpisodeServerError('bad_request', z.prettifyError(parsed.error).slice(0, 400))
  return parsed.data
}
