import type { Profile } from '../../dataset/profile.js'
import type { Json, JsonObject } from '../../reward/index.js'
import {
  isOptional,
  meaningOf,
  requiredReferences,
  type SeededRandom,
  type ServerDefinition,
  type Session,
} from '../../servers/kernel/index.js'
import { kindsGiven, lookedUp, type Node } from '../../servers/kernel/tool-graph.js'
import { entitiesShown } from './entities-shown.js'
import { isHasty } from './known-in-time.js'
import { commonValuesIn, waysToRefer } from './references.js'
import { saidBefore } from './said-before.js'
import type { Chain } from './split.js'
import type { Binding, Step } from './step.js'
import { canBeMeant, type Hearing, type Parts } from './tell-references.js'

/** Chance that an entity of an older result is considered beside those of the newest. */
const OLDER_RESULT = 0.2
/** Draws that come to nothing, or to a call that was made in vain, before it is held that there are no others. */
const REPEATS = 6
/** Samples of arguments for one step before the walk is given up. */
const TRIES_PER_STEP = 8
/** The same for a look-up whose result is to show what a later call can be made with: most show one thing at random. */
const TRIES_PER_LOOK_UP = { plain: 64, natural: 24 } as const
/** How often a call is for what an earlier look-up was for, where its sampler can do with that. */
const CARRIES = 0.75
/** Keys of a result that are tried for one argument. */
const KEYS_PER_ARGUMENT = 12

/**
 * Whether every call has to do with another: it takes over a value, gives one, or one makes a fact true that the other
 * needs. Otherwise the chain would be two tasks side by side. A call alone is one task.
 */
function isConnected(steps: readonly Step[]): boolean {
  const linked = (a: Step, b: Step): boolean =>
    a.server === b.server && (b.tool.needs ?? []).some((fact) => a.tool.establishes?.includes(fact))
  if (steps.length === 1) return true
  return steps.every(
    (step, i) =>
      step.bindings.length > 0 ||
      steps.some(({ bindings }) => bindings.some(({ source }) => source === i)) ||
      steps.some((other, j) => (j < i ? linked(other, step) : linked(step, other))),
  )
}

/**
 * Executes a chain in fresh sessions, with arguments from the live state: keys that are looked up come from earlier
 * results, everything else from the tool's sampler.
 * @param partings  ways to ask for it in turns, if any: what a step takes over can be told in one of them
 * @returns `null` when this state has nothing that fits
 */
export function walk(
  chain: Chain,
  open: (server: ServerDefinition) => Session,
  profile: Profile,
  random: SeededRandom,
  partings?: readonly Parts[],
): Step[] | null {
  const sessions = new Map<ServerDefinition, Session>()
  const steps: Step[] = []
  let left = partings
  for (const [i, node] of chain.entries()) {
    const session = sessions.get(node.server) ?? open(node.server)
    sessions.set(node.server, session)
    const taken = take(node, usersOf(chain, i, profile), { steps, session, profile, random, partings: left })
    if (!taken) return null
    steps.push(taken.step)
    left = taken.partings?.filter((parts) => isUnhurried(steps, parts))
    if (left?.length === 0) return null
  }
  return isConnected(steps) ? steps : null
}

/** A walk on its way, as far as one world sees it. */
interface Course {
  readonly steps: readonly Step[]
  readonly session: Session
  readonly profile: Profile
  readonly random: SeededRandom
  /** The ways to ask for the walk in which all its steps so far can be told; `undefined` where that does not matter. */
  readonly partings: readonly Parts[] | undefined
}

/** What users of executed chains hear. */
const HEARING: Hearing = { told: true, inTime: true }

const isUnhurried = (steps: readonly Step[], parts: Parts): boolean =>
  parts.every((part) => {
    const taken = part.filter((at) => at < steps.length)
    return !isHasty(steps, taken)
  })

/** A later call that is to be given a key of a look-up's result. */
interface User {
  readonly node: Node
  /** Nobody could say the key. Otherwise it could be about another thing, but that would be another errand. */
  readonly must: boolean
  /** Whether nothing comes between the two. */
  readonly isNext: boolean
  /** Kinds of key that calls between the two may show yet. */
  readonly coming: ReadonlySet<string>
}

/** Who uses the result of a look-up, as long as the state is then still as the look-up finds it. */
function usersOf(chain: Chain, at: number, { keys }: Profile): User[] {
  const lookUp = chain[at]!
  if (!lookUp.tool.annotations.readOnly) return []
  const given = kindsGiven(lookUp)
  const users: User[] = []
  const coming = new Set<string>()
  for (const node of chain.slice(at + 1)) {
    if (node.server !== lookUp.server) continue
    const isGiven = (entity: string): boolean => given.has(entity)
    const must = [...lookedUp(node, keys === 'spoken').values()].some(isGiven)
    if (must || (keys === 'looked-up' && [...requiredReferences(node.tool.input).values()].some(isGiven)))
      users.push({ node, must, isNext: node === chain[at + 1], coming: new Set(coming) })
    if (!node.tool.annotations.readOnly) break
    for (const kind of kindsGiven(node)) coming.add(kind)
  }
  return users
}

/** The next step of a walk, and the ways to ask for the walk that are left with it. */
interface Taken {
  readonly step: Step
  readonly partings: readonly Parts[] | undefined
}

function take(node: Node, users: readonly User[], course: Course): Taken | null {
  const { session, profile, steps, random } = course
  const inVain = new Set<string>()
  let repeats = 0
  const givesUp = (): boolean => profile.speech === 'natural' && ++repeats === REPEATS
  for (let tries = users.length > 0 ? TRIES_PER_LOOK_UP[profile.speech] : TRIES_PER_STEP; tries > 0; tries--) {
    const carried = profile.speech === 'natural' && random.chance(CARRIES) ? saidBefore(node, steps) : {}
    const bound = bind(node, course, { carried })
    if (!bound) {
      if (givesUp()) return null
      continue
    }
    const args = withoutUnknownKeys(node, given(bound.args), bound.bindings, profile)
    const name = users.length > 0 ? JSON.stringify(args) : ''
    if (inVain.has(name)) {
      if (givesUp()) return null
      continue
    }
    const result = session.call(node.tool.name, args)
    if (!result.ok) continue
    const { bindings, partings } = bound
    const step = { ...node, args, output: result.output as JsonObject, bindings }
    const seen = { ...course, steps: [...steps, step] }
    const isUsed = (user: User): boolean => {
      const found = bind(user.node, { ...seen, partings: user.isNext ? partings : undefined }, user)
      return found !== null && (user.must || found.bindings.some(({ source }) => source === steps.length))
    }
    if (users.every(isUsed)) return { step, partings }
    inVain.add(name)
  }
  return null
}

const given = (args: Record<string, unknown>): Record<string, Json> =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined)) as Record<string, Json>

/** Optional arguments that carry a key nobody was shown are left out: a user could not have said it. */
function withoutUnknownKeys(
  { server, tool }: Node,
  args: JsonObject,
  bindings: readonly Binding[],
  { keys }: Profile,
): JsonObject {
  if (keys === 'spoken') return args
  return Object.fromEntries(
    Object.entries(args).filter(([field]) => {
      const schema = tool.input.shape[field]!
      const { entity } = meaningOf(schema)
      if (entity === undefined || !isOptional(schema) || server.entities[entity]?.sayable) return true
      return bindings.some((binding) => binding.field === field)
    }),
  )
}

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
 * Arguments for `node` with keys and common values from the results so far, such as its sampler says go together;
 * `null` when one that it must be given is not there, or none fits.
 */
function bind(
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
      .flatMap((step, i) => (step.server === node.server ? keysIn(step, first + i, entity) : []))
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

/** What is taken out of another world under a name is known by that name in this one: nobody saves the daycare as a second home. */
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

function labelIn(session: Session, { server }: Node, entity: string, key: string): unknown {
  const { table, label } = server.entities[entity] ?? {}
  return table && label ? session.db[table]!.get(key)?.[label] : undefined
}

/** What the last call in another world tells, for one argument of the first that goes on in this one. */
function bindCommon(
  field: string,
  common: string | undefined,
  { server }: Node,
  { steps, bound, random }: Pick<Course, 'steps' | 'random'> & { readonly bound: Readonly<Record<string, Json>> },
): Binding | undefined {
  const source = steps.findLastIndex((step) => step.server !== server)
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
