import * as fc from 'fast-check'
import type {
  GroundTruthCall,
  Json,
  JsonObject,
  LoggedCall,
  RolloutFacts,
  ScoredExample,
  StateDigests,
} from '../../rollout/reward/index.js'
import { equalValues } from '../../rollout/reward/values.js'
import type { OfferedTool } from '../../servers/kernel/index.js'

/** Random examples for the reward: toolsets, fitting ground truths, and correct or incorrect call logs of every kind. */

export type WellFormed = Extract<LoggedCall, { name: string }>

/** Names that include inherited ones: a look-up that is not limited to own properties would always find those. */
const TOOL_NAMES = ['search', 'open', 'add', 'pay', 'constructor', 'toString', '__proto__']
const FIELD_NAMES = ['query', 'item', 'amount', 'valueOf', '__proto__']

interface FieldKind {
  readonly schema: JsonObject
  readonly value: fc.Arbitrary<Json>
}

const text = fc.constantFrom('', 'tea', 'Tea', 'coffee', '500')
const wholeNumber = fc.integer({ min: -3, max: 3 })
const anyNumber = fc.double({ noNaN: true, noDefaultInfinity: true })
const KINDS: readonly FieldKind[] = [
  { schema: { type: 'string' }, value: text },
  { schema: { type: 'integer' }, value: wholeNumber },
  { schema: { type: 'number' }, value: fc.oneof(wholeNumber, anyNumber) },
  { schema: { type: 'boolean' }, value: fc.boolean() },
  { schema: { type: ['string', 'null'] }, value: fc.option(text) },
  { schema: { type: 'array', items: { type: 'integer' } }, value: fc.array(wholeNumber, { maxLength: 3 }) },
  { schema: { anyOf: [{ type: 'boolean' }, { type: 'string' }] }, value: fc.oneof(fc.boolean(), text) },
  {
    schema: { type: 'object', required: ['city'], properties: { city: { type: 'string' } } },
    value: fc.record({ city: text, zip: wholeNumber }, { requiredKeys: ['city'] }) as fc.Arbitrary<JsonObject>,
  },
]

export const anyJson: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>

interface GeneratedTool {
  readonly offered: OfferedTool
  /** Returns arguments that fit the tool's schema. */
  readonly args: fc.Arbitrary<JsonObject>
}

const field = fc.record({
  name: fc.constantFrom(...FIELD_NAMES),
  kind: fc.constantFrom(...KINDS),
  required: fc.boolean(),
})

const tool: fc.Arbitrary<GeneratedTool> = fc
  .record({
    name: fc.constantFrom(...TOOL_NAMES),
    fields: fc.uniqueArray(field, { selector: ({ name }) => name, maxLength: 3 }),
    readOnly: fc.boolean(),
  })
  .map(({ name, fields, readOnly }) => {
    const inputSchema = {
      type: 'object',
      properties: Object.fromEntries(fields.map((part) => [part.name, part.kind.schema])),
      required: fields.filter(({ required }) => required).map((part) => part.name),
      additionalProperties: false,
    }
    const entries = fields.map((part) => {
      const entry = part.kind.value.map((value) => [[part.name, value]] as [string, Json][])
      return part.required ? entry : fc.oneof(entry, fc.constant([]))
    })
    return {
      offered: { name, description: '', inputSchema, readOnly },
      args: fc.tuple(...entries).map((parts) => Object.fromEntries(parts.flat()) as JsonObject),
    }
  })

interface GeneratedExample {
  readonly example: ScoredExample
  /** Returns valid calls with names of the ground truth and any values. */
  readonly onList: fc.Arbitrary<WellFormed>
  readonly entry: fc.Arbitrary<LoggedCall>
}

const toolset = fc.uniqueArray(tool, { selector: ({ offered }) => offered.name, minLength: 1, maxLength: 4 })

const generated: fc.Arbitrary<GeneratedExample> = toolset.chain((tools) => {
  const drawn = fc
    .constantFrom(...tools)
    .chain(({ offered, args }) => args.map((given) => [offered.name, given] as const))
  const calls = fc.array(fc.tuple(drawn, fc.array(fc.nat({ max: 20 }), { maxLength: 2 })), {
    minLength: 1,
    maxLength: 6,
  })
  return calls.map((list) => {
    const groundTruth = list.map(
      ([[name, given], marks], i): GroundTruthCall => ({
        name,
        arguments: given,
        after: [...new Set(marks.filter((mark) => mark < i))],
      }),
    )
    const wanted = tools.filter(({ offered }) => groundTruth.some(({ name }) => name === offered.name))
    const onList = fc
      .constantFrom(...wanted)
      .chain(({ offered, args }) => args.map((given) => ({ name: offered.name, arguments: given, ok: true })))
    const entry: fc.Arbitrary<LoggedCall> = fc.oneof(
      fc.constantFrom(...perfectLog(groundTruth)),
      fc.constantFrom(...groundTruth).map((call) => ({ name: call.name, arguments: call.arguments, ok: false })),
      onList,
      fc.record({
        name: fc.constantFrom(...TOOL_NAMES, 'unheard_of'),
        arguments: fc.dictionary(fc.constantFrom(...FIELD_NAMES), anyJson, { maxKeys: 3 }),
        ok: fc.boolean(),
      }),
      fc.constant({ malformed: true as const, raw: '<tool_call>{"name":' }),
    )
    return { example: { offered: tools.map(({ offered }) => offered), groundTruth }, onList, entry }
  })
})

export const example: fc.Arbitrary<ScoredExample> = generated.map((made) => made.example)

/** Generates an example and a log that may have any error. */
export const scored: fc.Arbitrary<readonly [ScoredExample, LoggedCall[]]> = generated.chain((made) =>
  fc.array(made.entry, { maxLength: 14 }).map((log) => [made.example, log] as const),
)

/** Generates an example and a log of valid, offered calls that has used up the call budget. */
export const beyondBudget: fc.Arbitrary<readonly [ScoredExample, WellFormed[]]> = generated.chain((made) => {
  const calls = fc.oneof(fc.constantFrom(...perfectLog(made.example.groundTruth)), made.onList)
  return fc.array(calls, { minLength: 9, maxLength: 14 }).map((log) => [made.example, log] as const)
})

/** Returns the facts of a rollout with one turn, empty results, and an answer that says so. */
export function plainFacts(log: readonly LoggedCall[], states: readonly StateDigests[] = []): RolloutFacts {
  return {
    states,
    turns: log.map(() => 0),
    results: log.map(() => '{}'),
    said: [{ turn: 0, calls: log.length, isAnswer: true, text: 'Done.' }],
  }
}

export function perfectLog(groundTruth: readonly GroundTruthCall[]): WellFormed[] {
  return groundTruth.map((call) => ({ name: call.name, arguments: call.arguments, ok: true }))
}

/** Returns the same value with the keys of every object in another order. */
export function reorderKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(reorderKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, part]) => [key, reorderKeys(part)]),
  )
}

export function hasTwins(groundTruth: readonly GroundTruthCall[]): boolean {
  return groundTruth.some((call, i) =>
    groundTruth.slice(0, i).some((other) => other.name === call.name && equalValues(other.arguments, call.arguments)),
  )
}

/** Returns a random order in which every ground-truth call follows its prerequisites. @param draws  one number per call */
export function orderRespectingEdges(groundTruth: readonly GroundTruthCall[], draws: readonly number[]): number[] {
  const order: number[] = []
  for (const draw of draws.slice(0, groundTruth.length)) {
    const ready = groundTruth.flatMap(({ after }, i) =>
      !order.includes(i) && after.every((j) => order.includes(j)) ? [i] : [],
    )
    order.push(ready[draw % ready.length]!)
  }
  return order
}
