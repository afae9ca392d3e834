import type { Profile } from '../../dataset/profile.js'
import type { Json, JsonObject } from '../../reward/index.js'
import {
  entitiesIn,
  meaningOf,
  requiredReferences,
  type SeededRandom,
  type ServerDefinition,
  type Session,
} from '../../servers/kernel/index.js'
import { kindsGiven, type Link, lookedUp, type Node, type ToolGraph } from '../../servers/kernel/tool-graph.js'
import { canBeMeantAtOnce } from './known-at-once.js'
import { endsWithCheck, isPurposeful } from './purpose.js'
import { commonValuesIn, type Way, waysToRefer } from './references.js'
import { saidBefore } from './said-before.js'
import type { Chain } from './split.js'
import { kindsTold } from './told-kinds.js'

/** Opens the sessions of a task anew, one per world. */
export type Open = (server: ServerDefinition) => Session

/** An argument that an earlier result supplies. */
export interface Binding {
  readonly field: string
  readonly value: string
  /** Index of the step whose result holds the value. */
  readonly source: number
  /** The entity's kind, or `undefined` for a common value. */
  readonly entity: string | undefined
  /** How it can be meant by that result, whatever is said in between. */
  readonly ways: readonly Way[]
}

/** A call of the ground truth, as it was executed while the task was made. */
export interface Step extends Node {
  readonly args: JsonObject
  readonly output: JsonObject
  readonly bindings: readonly Binding[]
}

/** Chance that an entity of an older result is considered beside those of the newest. */
const OLDER_RESULT = 0.2
/** Samples of arguments for one step before the walk is given up. */
const TRIES_PER_STEP = 8
/** The same for a look-up whose result is to show what a later call can be made with: most show one thing at random. */
const TRIES_PER_LOOK_UP = 64
/** How often a call is for what an earlier look-up was for, where its sampler can do with that. */
const CARRIES = 0.75
/** Keys of a result that are tried for one argument. */
const KEYS_PER_ARGUMENT = 12
/** Share of the tools that come between two others: where a chain of the two is of another split, only so they occur in one. */
const BETWEEN = 0.12
/** The same where chains have to be parted. */
const BETWEEN_PARTED = 0.6
/** Draws of a chain around one tool before another length is drawn. */
const TRIES_PER_CHAIN = 12
/** Draws of a link before it is held that none leads to a tool that can be called. */
const TRIES_PER_LINK = 6

/** What a chain is drawn from. */
export interface ChainSource {
  readonly graph: ToolGraph
  readonly profile: Profile
  /** Whether a tool could be called after those of a chain, as far as that can be told without calling any. */
  isReady(node: Node, earlier: Chain): boolean
  /** Whether the chain is to be parted: some two of its tools may not follow one another. */
  readonly parted?: boolean
}

/**
 * Draws a chain of `length` tools that runs through `core` along the links of the graph, in which look-ups come
 * before what needs them, and nothing is called that the state forbids from the start. @returns `null` if none was found
 */
export function drawChain(source: ChainSource, core: Chain, length: number, random: SeededRandom): Chain | null {
  const spoken = source.profile.keys === 'spoken'
  const isPlain = source.profile.speech === 'plain'
  for (let attempt = 0; attempt < TRIES_PER_CHAIN; attempt++) {
    const chain = [...core]
    while (chain.length < length && grow(chain, source, random));
    if (
      chain.length === length &&
      !firstUncovered(chain, spoken) &&
      (isPlain || (isPurposeful(chain) && endsWithCheck(chain)))
    )
      return chain
  }
  return null
}

/** Adds one tool: a look-up where one is missing, otherwise one before the first or after the last. @returns false if none fits */
function grow(chain: Node[], { graph, profile, isReady, parted }: ChainSource, random: SeededRandom): boolean {
  const spoken = profile.keys === 'spoken'
  const missing = firstUncovered(chain, spoken)
  if (missing) {
    const sources = graph
      .into(missing.node)
      .filter(
        ({ kind, through, from }) =>
          kind === 'explicit' &&
          through === missing.entity &&
          !chain.includes(from) &&
          kindsTold(from, spoken).has(missing.entity),
      )
    const link = pickLink(sources, random, ({ from }) => isReady(from, []))
    if (link) chain.splice(random.int(0, chain.indexOf(missing.node)), 0, link.from)
    return link !== undefined
  }
  if (!spoken && chain.length > 1 && random.chance(parted ? BETWEEN_PARTED : BETWEEN)) {
    const at = random.int(1, chain.length - 1)
    const inner = graph.from(chain[at - 1]!).filter(({ to, kind }) => kind !== 'cross-world' && !chain.includes(to))
    const link = pickLink(inner, random, ({ to }) => isReady(to, chain.slice(0, at)))
    if (link) {
      chain.splice(at, 0, link.to)
      return true
    }
  }
  const before = graph.into(chain[0]!).filter(({ from }) => !chain.includes(from))
  const after = graph.from(chain.at(-1)!).filter(({ to }) => !chain.includes(to))
  const backwards = before.length > 0 && (after.length === 0 || random.chance(0.4))
  const link = backwards
    ? pickLink(before, random, ({ from }) => isReady(from, []))
    : pickLink(after, random, ({ to }) => isReady(to, chain))
  if (!link) return false
  if (backwards) chain.unshift(link.from)
  else chain.push(link.to)
  return true
}

function firstUncovered(chain: Chain, spoken: boolean): { node: Node; entity: string } | undefined {
  for (const [i, node] of chain.entries()) {
    const entity = uncovered(chain.slice(0, i), node, spoken)
    if (entity !== undefined) return { node, entity }
  }
  return undefined
}

/** A kind of key that `node` must be given and no result of `chain` holds. */
function uncovered(chain: Chain, node: Node, spoken: boolean): string | undefined {
  return [...lookedUp(node, spoken).values()].find(
    (entity) => !chain.some((earlier) => earlier.server === node.server && kindsTold(earlier, spoken).has(entity)),
  )
}

/** A link within the world: where a chain is to go on in another, it is built around the link that leads there. */
function pickLink(links: readonly Link[], random: SeededRandom, fits: (link: Link) => boolean): Link | undefined {
  const pool = links.filter(({ kind }) => kind !== 'cross-world')
  for (let left = pool.length === 0 ? 0 : TRIES_PER_LINK; left > 0; left--) {
    const link = random.pick(pool)
    if (fits(link)) return link
  }
  return undefined
}

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
 * @param atOnce  all of it is asked for before any result is there
 * @returns `null` when this state has nothing that fits
 */
export function walk(
  chain: Chain,
  open: (server: ServerDefinition) => Session,
  profile: Profile,
  random: SeededRandom,
  atOnce = false,
): Step[] | null {
  const sessions = new Map<ServerDefinition, Session>()
  const steps: Step[] = []
  for (const [i, node] of chain.entries()) {
    const session = sessions.get(node.server) ?? open(node.server)
    sessions.set(node.server, session)
    const step = take(node, usersOf(chain, i, profile), { steps, session, profile, random, atOnce })
    if (!step) return null
    steps.push(step)
  }
  return isConnected(steps) ? steps : null
}

/** A walk on its way, as far as one world sees it. */
interface Course {
  readonly steps: readonly Step[]
  readonly session: Session
  readonly profile: Profile
  readonly random: SeededRandom
  readonly atOnce: boolean
}

/** A later call that is to be given a key of a look-up's result. */
interface User {
  readonly node: Node
  /** Nobody could say the key. Otherwise it could be about another thing, but that would be another errand. */
  readonly must: boolean
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
      users.push({ node, must, coming: new Set(coming) })
    if (!node.tool.annotations.readOnly) break
    for (const kind of kindsGiven(node)) coming.add(kind)
  }
  return users
}

function take(node: Node, users: readonly User[], course: Course): Step | null {
  const { session, profile, steps, random } = course
  const inVain = new Set<string>()
  for (let left = users.length > 0 ? TRIES_PER_LOOK_UP : TRIES_PER_STEP; left > 0; left--) {
    const carried = profile.speech === 'natural' && random.chance(CARRIES) ? saidBefore(node, steps) : {}
    const bound = bind(node, course, { carried })
    if (!bound) continue
    const args = withoutUnknownKeys(node, given(bound.args), bound.bindings, profile)
    const name = users.length > 0 ? JSON.stringify(args) : ''
    if (inVain.has(name)) continue
    const result = session.call(node.tool.name, args)
    if (!result.ok) continue
    const step = { ...node, args, output: result.output as JsonObject, bindings: bound.bindings }
    const seen = { ...course, steps: [...steps, step] }
    const isUsed = (user: User): boolean => {
      const found = bind(user.node, seen, user)
      return found !== null && (user.must || found.bindings.some(({ source }) => source === steps.length))
    }
    if (users.every(isUsed)) return step
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
      if (entity === undefined || !schema.isOptional() || server.entities[entity]?.sayable) return true
      return bindings.some((binding) => binding.field === field)
    }),
  )
}

interface Bound {
  readonly bindings: readonly Binding[]
  readonly args: Readonly<Record<string, unknown>>
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
  { steps, session, profile, random, atOnce }: Course,
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
  let args: Readonly<Record<string, unknown>> | null = null
  for (const [field, schema] of random.shuffle(Object.entries(node.tool.input.shape))) {
    const { entity, common } = meaningOf(schema)
    const crossing = schema.isOptional() ? undefined : bindCommon(field, common, node, { steps, bound, random })
    if (entity === undefined || crossing) {
      if (!crossing) continue
      bindings.push(crossing)
      bound[field] = crossing.value
      Object.assign(bound, namedAlike(node, steps[crossing.source]!, crossing.value))
      args = sampled()
      if (!args) return null
      continue
    }
    if (schema.isOptional()) continue
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
        const all = trial ? waysToRefer(steps[source]!, entity, key, labelIn(session, node, entity, key)) : []
        const ways = atOnce ? all.filter((way) => canBeMeantAtOnce(way, steps[source]!, entity, node.tool)) : all
        if (ways.length === 0) {
          delete bound[field]
          return undefined
        }
        args = trial
        return { field, value: key, source, entity, ways }
      })
      if (binding) {
        bindings.push(binding)
        continue
      }
    }
    if (must.has(field) && !coming?.has(entity)) return null
  }
  args ??= sampled()
  return args && { bindings, args }
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
  const found = entitiesIn(step.tool.output, step.output).filter((occurrence) => occurrence.entity === entity)
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
