import { z } from 'zod'
import {
  bringsTools,
  type Catalogue,
  EpisodeError,
  parseTask,
  type Task,
  wordsOfStated,
} from '../../rollout/episode/index.js'
import type { JsonObject } from '../../rollout/reward/index.js'
import { DatasetError } from './errors.js'
import {
  CONFIRMED_OUTCOMES,
  DECLINED_OUTCOMES,
  type DomainRuleRole,
  type Example,
  type Exchange,
  type Origin,
  type ReferenceCall,
} from './example.js'
import { type ChatMessage, callId, messagesOf, toolSchemasOf } from './messages.js'
import { SPLITS } from './profile.js'

/** Version of the record's shape. Readers reject every other version. */
export const RECORD_SCHEMA = 2

/** Limits of a record. The largest records of the paper's profile stay below a tenth of them. */
export const RECORD_LIMITS = {
  /** Bytes of a line, including its end. */
  lineBytes: 4 << 20,
  messages: 256,
  /** Levels of objects and lists in a call's arguments. */
  argumentDepth: 16,
} as const

const text = z.string().max(RECORD_LIMITS.lineBytes)
const name = z.string().min(1).max(64)
const count = z.int().min(0).max(0x7fffffff)

const toolCall = z.strictObject({
  id: name,
  type: z.literal('function'),
  function: z.strictObject({ name, arguments: text }),
})

const message = z.union([
  z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: text }),
  z.strictObject({ role: z.literal('assistant'), content: z.null(), tool_calls: z.tuple([toolCall]) }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: name, content: text }),
])

const originShape = z.strictObject({
  /** Index of the ground-truth call. */
  call: count,
  argument: z.string().max(100),
  from: z.enum(['user', 'result', 'context']),
  /** User turn or ground-truth call with the value; `null` for the system message. */
  at: count.nullable(),
  phrase: text,
  /** Words of the user that refer to a value of a result; absent if there are none. */
  said: z.strictObject({ turn: count, at: count, words: text }).optional(),
})

const domainRuleCase = {
  rule: z.string().min(1).max(129),
  turn: count,
  call: z.strictObject({ environment: name, name, arguments: text }),
}
const domainRulesShape = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('abiding') }),
  z.strictObject({ role: z.literal('declined'), outcome: z.enum(DECLINED_OUTCOMES), ...domainRuleCase }),
  z.strictObject({ role: z.literal('confirmed'), outcome: z.enum(CONFIRMED_OUTCOMES), ...domainRuleCase }),
])

/**
 * Line of a data set. It contains each part of an example once, and additionally `tools` for readers without the environments. Each list
 * has objects of one shape, and values without a fixed shape are text, so that columnar formats can store the record.
 */
const recordShape = z.strictObject({
  schema: z.literal(RECORD_SCHEMA),
  /** The task's id: SHA-256 (hex) over its canonical JSON. */
  id: z.string().regex(/^[0-9a-f]{64}$/),
  index: count,
  split: z.enum(SPLITS),
  kind: z.enum(['multi-turn', 'clarification', 'abstention']),
  messages: z.array(message).min(2).max(RECORD_LIMITS.messages),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        function: z.strictObject({ name, description: text, parameters: z.record(z.string(), z.unknown()) }),
      }),
    )
    .max(64),
  ground_truth: z.array(z.strictObject({ name, arguments: text, after: z.array(count).max(16), turn: count })).max(16),
  environments: z.array(z.strictObject({ environment: name, seed: z.int() })).max(20),
  /** Facts that the answers to the user's turns must state. */
  facts: z
    .array(z.strictObject({ turn: count, value: text }))
    .max(256)
    .default([]),
  /** Questions that answers to the user's turns must ask, with accepted words. */
  questions: z
    .array(z.strictObject({ turn: count, words: z.array(text).max(256) }))
    .max(256)
    .default([]),
  /** Environment of each tool, and for an added tool the user turn that adds and describes it. */
  toolset: z.array(z.strictObject({ environment: name, tool: name, from: count.optional() })).max(64),
  strip_enums: z.boolean(),
  chain: z.string().max(400),
  /** Per call of the messages, in order. `truth` is an index into `ground_truth`, `null` for a call that failed. */
  calls: z
    .array(z.strictObject({ environment: name, ok: z.boolean(), truth: count.nullable() }))
    .max(RECORD_LIMITS.messages),
  metadata: z.strictObject({
    information: z.enum(['complete', 'missing', 'minimal']),
    recovery: z.enum(['corrected', 'other-tool', 'gave-up']).nullable(),
    persona: text,
    /** Role of the domain rules, in tasks with domain rules. */
    domain_rules: domainRulesShape.optional(),
    speech: z.enum(['plain', 'natural', 'paraphrased']),
    origins: z.array(originShape).max(1024),
  }),
})

export type DatasetRecord = z.output<typeof recordShape>

/**
 * Returns a record as a line of a data set, without the line end. Escapes the line separators of Unicode, where some readers end lines.
 */
export const lineOf = (record: DatasetRecord): string =>
  JSON.stringify(record).replaceAll(
    /[\u0085\u2028\u2029]/g,
    (separator) => `\\u${separator.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/**
 * Returns an example as a record.
 * @throws DatasetError `bad_example` if the record would not give back the example
 */
export function recordOf(example: Example, catalogue: Catalogue): DatasetRecord {
  const { task, exchanges, origins } = example
  const refuse = (problem: string): never => {
    throw new DatasetError('bad_example', `example ${example.index}, task ${task.id}: ${problem}`)
  }
  if (exchanges.length !== task.turns.length || exchanges.some(({ user }, i) => user !== task.turns[i]))
    refuse('its exchanges differ from the user turns of its task')
  if (origins.length !== task.groundTruth.length)
    refuse('the number of origins differs from the number of ground-truth calls')
  return {
    schema: RECORD_SCHEMA,
    id: task.id,
    index: example.index,
    split: example.split,
    kind: task.kind,
    messages: messagesOf(example, catalogue) as DatasetRecord['messages'],
    tools: toolSchemasOf(example, catalogue) as DatasetRecord['tools'],
    ground_truth: task.groundTruth.map(({ name, arguments: args, after, turn }) => ({
      name,
      arguments: JSON.stringify(args),
      after,
      turn,
    })),
    environments: task.environments.map(({ environment, seed }) => ({ environment, seed })),
    facts: (task.facts ?? []).map(({ turn, value }) => ({ turn, value })),
    questions: (task.questions ?? []).map(({ turn, words }) => ({ turn, words: [...words] })),
    toolset: task.toolset.map(({ environment, tool, from }) => ({
      environment,
      tool,
      ...(from === undefined ? {} : { from }),
    })),
    strip_enums: task.stripEnums === true,
    chain: task.chain,
    calls: exchanges.flatMap(({ calls }) => calls.map(({ environment, ok, truth }) => ({ environment, ok, truth }))),
    metadata: {
      information: example.information,
      recovery: example.recovery,
      persona: example.persona,
      ...(example.domainRules ? { domain_rules: flatDomainRules(example.domainRules) } : {}),
      speech: example.speech,
      origins: origins.flatMap((fields, call) =>
        Object.entries(fields).map(([argument, origin]) => ({ call, argument, ...flatOrigin(origin) })),
      ),
    },
  }
}

function flatDomainRules(domainRules: DomainRuleRole): z.output<typeof domainRulesShape> {
  if (domainRules.role === 'abiding') return domainRules
  const { environment, name, arguments: args } = domainRules.call
  return { ...domainRules, call: { environment, name, arguments: JSON.stringify(args) } }
}

function readDomainRules(domainRules: z.output<typeof domainRulesShape>, refuse: Refuse): DomainRuleRole {
  if (domainRules.role === 'abiding') return domainRules
  return { ...domainRules, call: { ...domainRules.call, arguments: readArguments(domainRules.call.arguments, refuse) } }
}

function flatOrigin(origin: Origin): Pick<z.output<typeof originShape>, 'from' | 'at' | 'phrase' | 'said'> {
  const { from, phrase } = origin
  if (from === 'context') return { from, at: null, phrase }
  if (from === 'user') return { from, at: origin.turn, phrase }
  return { from, at: origin.call, phrase, ...(origin.said ? { said: origin.said } : {}) }
}

/**
 * Parses a record from a line with any content.
 * @param where  place for the message, such as `train.jsonl, line 3`
 * @throws DatasetError `damaged_record`, `other_schema`
 */
export function parseRecord(line: string, where: string): DatasetRecord {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (cause) {
    throw damaged(where, `not JSON (${(cause as Error).message.slice(0, 120)})`)
  }
  const { schema } = (value ?? {}) as { schema?: unknown }
  if (typeof schema === 'number' && schema !== RECORD_SCHEMA) {
    throw new DatasetError(
      'other_schema',
      `${where}: the record has version ${schema} and this program reads ${RECORD_SCHEMA}: use the program that wrote it, or make the data set again`,
    )
  }
  const parsed = recordShape.safeParse(value)
  if (!parsed.success) throw damaged(where, z.prettifyError(parsed.error).replaceAll(/\s+/g, ' ').slice(0, 400))
  return parsed.data
}

/** Returns the example of a record. @throws DatasetError `damaged_record` if the record is inconsistent */
export function exampleOfRecord(record: DatasetRecord, where: string): Example {
  const refuse: Refuse = (problem) => {
    throw damaged(where, problem)
  }
  const { system, exchanges } = readMessages(record, refuse)
  const { information, recovery, persona, domain_rules: domainRules, speech, origins } = record.metadata
  return {
    index: record.index,
    split: record.split,
    task: readTask(record, system, exchanges, refuse),
    information,
    recovery,
    persona,
    ...(domainRules ? { domainRules: readDomainRules(domainRules, refuse) } : {}),
    exchanges,
    origins: readOrigins(origins, record.ground_truth.length, refuse),
    speech,
  }
}

type Refuse = (problem: string) => never

const damaged = (where: string, problem: string): DatasetError =>
  new DatasetError('damaged_record', `${where}: ${problem}. Fetch the file again, or make the data set again.`)

/** Parses a conversation: an optional system message, then per user turn any number of calls and an answer. */
function readMessages(record: DatasetRecord, refuse: Refuse): { system: string | undefined; exchanges: Exchange[] } {
  const messages = record.messages as readonly ChatMessage[]
  const [first] = messages
  const system = first?.role === 'system' ? first.content : undefined
  const exchanges: Exchange[] = []
  let at = system === undefined ? 0 : 1
  let made = 0
  const unexpected = (): never => refuse(`message ${at} has an unexpected role`)
  while (at < messages.length) {
    const user = messages[at++]!
    if (user.role !== 'user') return unexpected()
    const calls: ReferenceCall[] = []
    for (let next = messages[at]; next?.role === 'assistant' && next.content === null; next = messages[at]) {
      const response = messages[at + 1]
      const [call] = next.tool_calls
      const known = record.calls[made]
      if (response?.role !== 'tool' || !known) return unexpected()
      if (call.id !== callId(made) || response.tool_call_id !== call.id) return unexpected()
      if (known.truth !== null && known.truth >= record.ground_truth.length)
        refuse(`calls.${made}: no such ground truth`)
      const { name, arguments: args } = call.function
      calls.push({ ...known, name, arguments: readArguments(args, refuse), response: response.content })
      made++
      at += 2
    }
    const closing = messages[at++]
    if (closing?.role !== 'assistant' || closing.content === null) return unexpected()
    const words = bringsTools(record) ? wordsOfStated(user.content) : user.content
    exchanges.push({ user: words, calls, assistant: closing.content })
  }
  if (made !== record.calls.length) refuse(`the messages make ${made} calls and there are ${record.calls.length}`)
  return { system, exchanges }
}

function readTask(
  record: DatasetRecord,
  system: string | undefined,
  exchanges: readonly Exchange[],
  refuse: Refuse,
): Task {
  const task = {
    id: record.id,
    kind: record.kind,
    environments: record.environments,
    toolset: record.toolset,
    ...(record.strip_enums ? { stripEnums: true } : {}),
    ...(system === undefined ? {} : { system }),
    ...(record.facts.length === 0 ? {} : { facts: record.facts }),
    ...(record.questions.length === 0 ? {} : { questions: record.questions }),
    turns: exchanges.map(({ user }) => user),
    groundTruth: record.ground_truth.map(({ name, arguments: args, after, turn }) => ({
      name,
      arguments: readArguments(args, refuse),
      after,
      turn,
    })),
    chain: record.chain,
  }
  try {
    return parseTask(task)
  } catch (cause) {
    if (cause instanceof EpisodeError) return refuse(cause.message.replaceAll(/\s+/g, ' ').slice(0, 400))
    throw cause
  }
}

function readArguments(json: string, refuse: Refuse): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return refuse(`arguments are not JSON: ${json.slice(0, 80)}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refuse(`arguments are not an object: ${json.slice(0, 80)}`)
  if (!isShallow(value)) return refuse(`arguments have more than ${RECORD_LIMITS.argumentDepth} levels`)
  return value as JsonObject
}

/** Checks the depth of arguments level by level, because later code walks through them by recursion. */
function isShallow(value: object): boolean {
  let level: object[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === RECORD_LIMITS.argumentDepth) return false
    level = level.flatMap((each) => Object.values(each).filter((inner) => typeof inner === 'object' && inner !== null))
  }
  return true
}

function readOrigins(
  origins: readonly z.output<typeof originShape>[],
  calls: number,
  refuse: Refuse,
): Record<string, Origin>[] {
  const fields: [string, Origin][][] = Array.from({ length: calls }, () => [])
  for (const { call, argument, from, at, phrase, said } of origins) {
    const of = fields[call] ?? refuse(`an origin names ground-truth call ${call} of ${calls}`)
    if (of.some(([known]) => known === argument)) refuse(`${argument} of call ${call} has two origins`)
    if ((from === 'context') !== (at === null)) refuse(`the origin of ${argument} of call ${call} has no place`)
    of.push([argument, at === null ? { from: 'context', phrase } : originAt(from, at, phrase, said)])
  }
  return fields.map((entries) => Object.fromEntries(entries))
}

function originAt(from: string, at: number, phrase: string, said: z.output<typeof originShape>['said']): Origin {
  if (from === 'user') return { from: 'user', turn: at, phrase }
  return { from: 'result', call: at, phrase, ...(said ? { said } : {}) }
}
