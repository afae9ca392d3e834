import type { Json, JsonObject } from '../../../rollout/reward/index.js'
import { isOptional, meaningOf, type SeededRandom, type Session } from '../../../servers/kernel/index.js'
import type { Profile } from '../../dataset/profile.js'
import { entitiesShown } from './entities-shown.js'
import { lookedUp, type Node } from './graph.js'
import { commonValuesIn, waysToRefer } from './references.js'
import { canBeMeant, type Hearing, type Parts } from './state-references.js'
import type { Binding, Step } from './step.js'

/** Chance that an entity of an older result is considered beside those of the newest. */
const OLDER_RESULT = 0.2
/** Keys of a result that are tried for one argument. */
const KEYS_PER_ARGUMENT = 12

/** A walk on its way, as far as one environment sees it. */
export interface Course {
  readonly steps: readonly Step[]
  readonly session: Session
  readonly profile: Profile
  readonly random: SeededRandom
  /** The ways to ask for the walk in which all its steps so far can be told; `undefined` where that does not matter. */
  readonly partings: readonly Parts[] | undefined
}

/** What users of executed chains hear. */
const HEARING: Hearing = { stated: true, inTime: true }

/** Arguments of a call, and what of them was taken from results. */
interface Bound {
  readonly bindings: readonly Binding[]
  readonly args: Readonly<Record<string, unknown>>
  /** Those of the ways to ask for the walk in which all bindings can be meant. */
  readonly partings: readonly Parts[] | undefined
}

/** What is known of a call beside the results. */
interface Known {
  /** Kinds of key that may still be missing, for results to come can show them. */
  readonly coming?: ReadonlySet<string>
  /** Arguments that were said for an earlier call. */
  readonly carried?: Readonly<Record<string, Json>>
}

/**
 * Returns arguments for `node` with keys and common values from the results so far. The arguments go together according to the sampler of
 * the tool. Returns `null` when an argument that must be given is missing, or when no arguments fit.
 */
export function bind(
  node: Node,
  { steps, session, profile, random, partings }: Course,
  { coming, carried = {} }: Known,
): Bound | null {
  const spoken = profile.keys === 'spoken'
  const must = lookedUp(node, spoken)
  const bindings: Binding[] = []
  const bound: Record<string, Json> = { ...carried }
  const sampled = (): Readonly<Record<string, unknown>> | null => {
    const args = session.sampleArguments(node.tool, random, bound)
    return args && Object.entries(bound).every(([field, value]) => args[field] === value) ? args : null
  }
  const seen = [...steps, { ...node, args: {}, output: {}, bindings }]
  const partingsWith = (binding: Binding): readonly Parts[] | undefined =>
    left?.filter((parts) => canBeMeant(binding, steps.length, seen, parts, HEARING))
  let left = partings
  let args: Readonly<Record<string, unknown>> | null = null
  for (const [field, schema] of random.shuffle(Object.entries(node.tool.input.shape))) {
    const { entity, common } = meaningOf(schema)
    const crossing = isOptional(schema) ? undefined : bindCommon(field, common, node, { steps, bound, random })
    if (entity === undefined || crossing) {
      if (!crossing) continue
      bindings.push(crossing)
      left = partingsWith(crossing)
      bound[field] = crossing.value
      Object.assign(bound, namedAlike(node, steps[crossing.source]!, crossing.value))
      args = sampled()
      if (!args) return null
      continue
    }
    if (isOptional(schema)) continue
    // A short memory is natural where keys may be spoken anyway: only the result just seen is referred to.
    const sources = spoken ? steps.slice(-1) : steps
    const first = steps.length - sources.length
    const taken = Object.values(bound)
    const found = sources
      .flatMap((step, i) => (step.environment === node.environment ? keysIn(step, first + i, entity) : []))
      .filter(({ key }) => !taken.includes(key))
    if (found.length > 0 && !(spoken && bindings.length > 0)) {
      const nearest = Math.max(...found.map(({ source }) => source))
      const candidates = found.filter(({ source }) => source === nearest || random.chance(OLDER_RESULT))
      const binding = firstFitting(random.sample(candidates, KEYS_PER_ARGUMENT), ({ key, source }) => {
        bound[field] = key
        const trial = sampled()
        const ways = trial ? waysToRefer(steps[source]!, entity, key, labelIn(session, node, entity, key)) : []
        const binding = { field, value: key, source, entity, ways }
        const fitting = ways.length > 0 ? partingsWith(binding) : []
        if (fitting?.length === 0) {
          delete bound[field]
          return undefined
        }
        args = trial
        left = fitting
        return binding
      })
      if (binding) {
        bindings.push(binding)
        continue
      }
    }
    if (must.has(field) && !coming?.has(entity)) return null
  }
  if (left?.length === 0) return null
  args ??= sampled()
  return args && { bindings, args, partings: left }
}

/** What is taken out of another environment under a name is known by that name in this one: nobody saves the daycare as a second home. */
function namedAlike({ tool }: Node, { output }: Step, value: string): { readonly name?: string } {
  const schema = tool.input.shape.name
  if (tool.annotations.readOnly || !schema || meaningOf(schema).entity !== undefined) return {}
  const rows = [output, ...Object.values(output).flat()] as readonly (Json | undefined)[]
  const row = rows.find((part) => isRow(part) && Object.values(part).includes(value)) as JsonObject | undefined
  const known = schema.safeParse(row?.name)
  return known.success ? { name: known.data as string } : {}
}

const isRow = (part: Json | undefined): part is JsonObject =>
  typeof part === 'object' && part !== null && !Array.isArray(part)

function firstFitting<T, R>(candidates: readonly T[], fitting: (candidate: T) => R | undefined): R | undefined {
  for (const candidate of candidates) {
    const found = fitting(candidate)
    if (found !== undefined) return found
  }
  return undefined
}

/** The entities of a kind that a result shows, each once. */
function keysIn(step: Step, source: number, entity: string): { key: string; source: number }[] {
  const found = entitiesShown(step).filter((occurrence) => occurrence.entity === entity)
  return [...new Set(found.map(({ key }) => key))].map((key) => ({ key, source }))
}

function labelIn(session: Session, { environment }: Node, entity: string, key: string): unknown {
  const { table, label } = environment.entities[entity] ?? {}
  return table && label ? session.db[table]!.get(key)?.[label] : undefined
}

/** What the last call in another environment tells, for one argument of the first that goes on in this one. */
function bindCommon(
  field: string,
  common: string | undefined,
  { environment }: Node,
  { steps, bound, random }: Pick<Course, 'steps' | 'random'> & { readonly bound: Readonly<Record<string, Json>> },
): Binding | undefined {
  const source = steps.findLastIndex((step) => step.environment !== environment)
  if (
    common === undefined ||
    source < 0 ||
    steps.slice(source).some(({ bindings }, i) => i > 0 && bindings.some(isCommon))
  )
    return undefined
  const values = commonValuesIn(steps[source]!, common)
  if (values.length === 0 || values.some((value) => Object.values(bound).includes(value))) return undefined
  const value = random.pick(values)
  return { field, value, source, entity: undefined, ways: [{ how: 'value', noun: common, value }] }
}

const isCommon = ({ entity }: Binding): boolean => entity === undefined
