import type { Json, JsonObject } from '../../../rollout/reward/index.js'
import { isOptional, meaningOf, type SeededRandom, type Session } from '../../../servers/kernel/index.js'
import type { Profile } from '../../dataset/profile.js'
import type { Node } from '../graph.js'
import { itemAt } from '../item-at.js'
import { keysShown } from './entities-shown.js'
import { commonValuesIn, waysToRefer } from './references.js'
import { canBeMeant, type Hearing } from './state-references.js'
import type { Binding, Parts, Step } from './step.js'
import { entityOf, type Wiring } from './wiring.js'

/** Keys of a result that are tried for one argument. */
const KEYS_PER_ARGUMENT = 12

/** What users of executed chains hear. */
const HEARING: Hearing = { stated: true, inTime: true }

/** A chain that is being executed: its calls so far, and which thing is which. */
export interface Course {
  readonly steps: readonly Step[]
  /** The state after these calls, in the environment of the next one. */
  readonly session: Session
  readonly profile: Profile
  readonly random: SeededRandom
  /** Which thing each call takes; `undefined` in plain speech, where a call takes what the one before it shows. */
  readonly wiring: Wiring | undefined
  /** Keys of the things that are settled. */
  readonly settled: ReadonlyMap<number, string>
  /** The ways to ask for the chain in turns that fit all calls so far; `undefined` where that does not matter. */
  readonly partings: readonly Parts[] | undefined
}

/** Arguments of a call, and what of them is taken from results. */
export interface Arguments {
  readonly args: JsonObject
  readonly bindings: readonly Binding[]
  readonly settled: ReadonlyMap<number, string>
  readonly partings: readonly Parts[] | undefined
}

/**
 * Draws arguments for the next call of a chain. Each key is that of its thing. The thing is settled, or an earlier result shows it and the
 * tool can be used on it. Everything else comes from the sampler of the tool.
 * @param said  arguments that were said for an earlier call
 * @returns `undefined` if the state has none
 */
export function drawArguments(node: Node, course: Course, said: Readonly<Record<string, Json>>): Arguments | undefined {
  const { steps, session, random, wiring, profile } = course
  const at = steps.length
  const bindings: Binding[] = []
  const settled = new Map(course.settled)
  const bound: Record<string, Json> = { ...said }
  let partings = course.partings
  const withNext = stepsWithNext(steps, node)
  const meant = (binding: Binding): readonly Parts[] | undefined =>
    partings?.filter((parts) => canBeMeantNext(binding, withNext, parts))
  const take = (binding: Binding, left: readonly Parts[] | undefined): void => {
    bindings.push(binding)
    partings = left
    bound[binding.field] = binding.value
  }
  if (wiring?.crossing?.at === at) {
    const binding = bindCommon(node, steps[wiring.crossing.source] as Step, wiring.crossing.source, bound, random)
    const left = binding && meant(binding)
    if (!binding || left?.length === 0) return undefined
    take(binding, left)
    Object.assign(bound, namedAlike(node, steps[wiring.crossing.source] as Step, binding.value))
  }
  for (const { field, entity, thing, candidates, must } of keysToBind(node, course, bound)) {
    const fitting = candidates.find(({ key, source }) => {
      const binding = bindingTo({ field, entity, key, source }, node, course)
      const left = binding.ways.length > 0 ? meant(binding) : []
      if (left?.length === 0 || !accepts(session, node, random, { ...bound, [field]: key })) return false
      take(binding, left)
      return true
    })
    if (!fitting && must) return undefined
    if (fitting && thing !== undefined) settled.set(thing, fitting.key)
    // In plain speech one key at most is meant by a result.
    if (fitting && !must) break
  }
  const drawn = accepts(session, node, random, bound)
  if (!drawn) return undefined
  const args = givenArguments(node, drawn, bindings, profile)
  for (const [field, thing] of wiring?.keys[at] ?? [])
    if (!settled.has(thing) && typeof args[field] === 'string') settled.set(thing, args[field])
  return { args, bindings, settled, partings }
}

/** Returns the ways to mean a key by the result that shows it. */
export function bindingTo(
  { field, entity, key, source }: { field: string; entity: string; key: string; source: number },
  node: Node,
  { steps, session }: Pick<Course, 'steps' | 'session'>,
): Binding {
  const ways = waysToRefer(itemAt(steps, source), entity, key, labelIn(session, node, entity, key))
  return { field, value: key, source, entity, ways }
}

/** Returns whether a key can be meant when the last one of `withNext` is the next call, in these turns. */
export const canBeMeantNext = (binding: Binding, withNext: readonly Step[], parts: Parts): boolean =>
  canBeMeant(binding, withNext.length - 1, withNext, parts, HEARING)

/** Returns steps, and a call that is still without arguments. */
export const stepsWithNext = (steps: readonly Step[], node: Node): readonly Step[] => [
  ...steps,
  { ...node, args: {}, output: {}, bindings: [] },
]

/** Returns arguments that the sampler of a tool draws around known ones, if it keeps these. */
export function accepts(
  session: Session,
  { tool }: Node,
  random: SeededRandom,
  bound: Readonly<Record<string, Json>>,
): Readonly<Record<string, unknown>> | undefined {
  const args = session.sampleArguments(tool, random, { ...bound })
  return args && Object.entries(bound).every(([field, value]) => args[field] === value) ? args : undefined
}

/** A required key of the next call, and the keys that it can be. */
interface KeyToBind {
  readonly field: string
  readonly entity: string
  readonly thing: number | undefined
  readonly candidates: readonly { readonly key: string; readonly source: number }[]
  /** Whether the call makes no sense with another key. */
  readonly must: boolean
}

function keysToBind(node: Node, course: Course, bound: Readonly<Record<string, Json>>): KeyToBind[] {
  const { steps, wiring, settled, random } = course
  if (!wiring) return plainKeys(node, course, bound)
  return (wiring.keys[steps.length] ?? []).flatMap(([field, index]): KeyToBind[] => {
    const thing = wiring.things[index]
    if (!thing || (thing.how === 'named' && thing.source === steps.length)) return []
    const entity = entityOf(thing)
    const key = settled.get(index)
    const source =
      key === undefined ? thing.source : steps.findLastIndex((step) => keysIn(step, node, entity).includes(key))
    const others = [...settled].filter(([other]) => other !== index).map(([, value]) => value)
    const shown = source < 0 ? [] : keysIn(steps[source] as Step, node, entity)
    const keys =
      key === undefined
        ? random.sample(
            shown.filter((one) => !others.includes(one)),
            KEYS_PER_ARGUMENT,
          )
        : [key]
    return [
      {
        field,
        entity,
        thing: index,
        candidates: source < 0 ? [] : keys.map((one) => ({ key: one, source })),
        must: true,
      },
    ]
  })
}

/** In plain speech a key can come from the result just seen, and the user may say any other. */
function plainKeys(node: Node, { steps, random }: Course, bound: Readonly<Record<string, Json>>): KeyToBind[] {
  const source = steps.length - 1
  const found: KeyToBind[] = []
  const fields = random.shuffle(Object.entries(node.tool.input.shape)).filter(([, schema]) => !isOptional(schema))
  for (const [field, schema] of fields) {
    const { entity } = meaningOf(schema)
    if (entity === undefined || source < 0) continue
    const keys = keysIn(steps[source] as Step, node, entity).filter((key) => !Object.values(bound).includes(key))
    const candidates = random.sample(keys, KEYS_PER_ARGUMENT).map((key) => ({ key, source }))
    if (candidates.length > 0) found.push({ field, entity, thing: undefined, candidates, must: false })
  }
  return found
}

/** The keys of a kind that a result shows, each once. */
export const keysIn = (step: Step, { environment }: Node, entity: string): readonly string[] =>
  step.environment === environment ? keysShown(step, entity) : []

function labelIn(session: Session, { environment }: Node, entity: string, key: string): unknown {
  const { table, label } = environment.entities[entity] ?? {}
  return table && label ? session.db[table]?.get(key)?.[label] : undefined
}

/** What the last call in another environment tells, for one argument of the first call in this one. */
function bindCommon(
  { tool }: Node,
  step: Step,
  source: number,
  bound: Readonly<Record<string, Json>>,
  random: SeededRandom,
): Binding | undefined {
  const fields = Object.entries(tool.input.shape).flatMap(([field, schema]) => {
    const { common } = meaningOf(schema)
    const values = common === undefined || isOptional(schema) ? [] : commonValuesIn(step, common)
    return values.length === 0 || values.some((value) => Object.values(bound).includes(value))
      ? []
      : [{ field, noun: common as string, values }]
  })
  if (fields.length === 0) return undefined
  const { field, noun, values } = random.pick(fields)
  const value = random.pick(values)
  return { field, value, source, entity: undefined, ways: [{ how: 'value', noun, value }] }
}

/** What is taken out of another environment under a name is known by that name in this one: nobody saves the daycare as a second home. */
function namedAlike({ tool }: Node, { output }: Step, value: string): { readonly name?: string } {
  const schema = tool.input.shape.name
  if (tool.annotations.readOnly || !schema || meaningOf(schema).entity !== undefined) return {}
  const rows = [output, ...Object.values(output).flat()] as readonly (Json | undefined)[]
  const row = rows.find((part): part is JsonObject => isRow(part) && Object.values(part).includes(value))
  const known = schema.safeParse(row?.name)
  return known.success ? { name: known.data as string } : {}
}

const isRow = (part: Json | undefined): part is JsonObject =>
  typeof part === 'object' && part !== null && !Array.isArray(part)

/** Optional arguments that carry a key nobody was shown are left out: a user could not have said it. */
function givenArguments(
  { environment, tool }: Node,
  args: Readonly<Record<string, unknown>>,
  bindings: readonly Binding[],
  { keys }: Profile,
): JsonObject {
  const isSaid = (field: string): boolean => {
    const schema = tool.input.shape[field]
    const entity = schema && meaningOf(schema).entity
    if (
      keys === 'spoken' ||
      entity === undefined ||
      !isOptional(schema as never) ||
      environment.entities[entity]?.sayable
    )
      return true
    return bindings.some((binding) => binding.field === field)
  }
  return Object.fromEntries(
    Object.entries(args).filter(([field, value]) => value !== undefined && isSaid(field)),
  ) as Record<string, Json>
}
