import type { Profile } from '../../dataset/profile.js'
import type { Json, JsonObject } from '../../reward/index.js'
import {
  entitiesIn,
  meaningOf,
  type SeededRandom,
  type ServerDefinition,
  type Session,
} from '../../servers/kernel/index.js'
import { kindsGiven, type Link, lookedUp, type Node, type ToolGraph } from '../../servers/kernel/tool-graph.js'
import { commonValuesIn, type Way, waysToRefer } from './references.js'
import type { Chain } from './split.js'

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
/** Draws of a chain around one tool before another length is drawn. */
const TRIES_PER_CHAIN = 12

/**
 * Draws a chain of `length` tools that runs through `core` along the links of the graph, and in which look-ups come
 * before what needs them. @returns `null` if none was found
 */
export function drawChain(
  graph: ToolGraph,
  core: Chain,
  length: number,
  profile: Profile,
  random: SeededRandom,
): Chain | null {
  const spoken = profile.keys === 'spoken'
  for (let attempt = 0; attempt < TRIES_PER_CHAIN; attempt++) {
    const chain = [...core]
    while (chain.length < length && grow(chain, graph, profile, random));
    if (chain.length === length && !firstUncovered(chain, spoken)) return chain
  }
  return null
}

/** Adds one tool: a look-up where one is missing, otherwise one before the first or after the last. @returns false if none fits */
function grow(chain: Node[], graph: ToolGraph, profile: Profile, random: SeededRandom): boolean {
  const spoken = profile.keys === 'spoken'
  const missing = firstUncovered(chain, spoken)
  if (missing) {
    const sources = graph
      .into(missing.node)
      .filter(({ kind, through, from }) => kind === 'explicit' && through === missing.entity && !chain.includes(from))
    const link = pickLink(sources, profile, random)
    if (link) chain.splice(random.int(0, chain.indexOf(missing.node)), 0, link.from)
    return link !== undefined
  }
  const before = graph.into(chain[0]!).filter(({ from }) => !chain.includes(from))
  const after = graph.from(chain.at(-1)!).filter(({ to }) => !chain.includes(to))
  const backwards = before.length > 0 && (after.length === 0 || random.chance(0.4))
  const link = pickLink(backwards ? before : after, profile, random)
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
    (entity) => !chain.some((earlier) => earlier.server === node.server && kindsGiven(earlier).has(entity)),
  )
}

/** Links across worlds are far more numerous than they are natural, so their share is set by the profile. */
function pickLink(links: readonly Link[], { crossWorld }: Profile, random: SeededRandom): Link | undefined {
  const within = links.filter(({ kind }) => kind !== 'cross-world')
  const across = links.filter(({ kind }) => kind === 'cross-world')
  const pool =
    across.length > 0 && crossWorld > 0 && (within.length === 0 || random.chance(crossWorld)) ? across : within
  if (pool.length === 0) return undefined
  return random.pick(pool)
}

/**
 * Whether every call has to do with another: it takes over a value, gives one, or one makes a fact true that the other
 * needs. Otherwise the chain would be two tasks side by side.
 */
function isConnected(steps: readonly Step[]): boolean {
  const linked = (a: Step, b: Step): boolean =>
    a.server === b.server && (b.tool.needs ?? []).some((fact) => a.tool.establishes?.includes(fact))
  return steps.every(
    (step, i) =>
      step.bindings.length > 0 ||
      steps.some(({ bindings }) => bindings.some(({ source }) => source === i)) ||
      steps.some((other, j) => (j < i ? linked(other, step) : linked(step, other))),
  )
}

/**
 * Executes a chain in fresh sessions, with arguments from the live state: keys that are looked up come from earlier
 * results, everything else from the tool's sampler. @returns `null` when this state has nothing that fits
 */
export function walk(
  chain: Chain,
  open: (server: ServerDefinition) => Session,
  profile: Profile,
  random: SeededRandom,
): Step[] | null {
  const sessions = new Map<ServerDefinition, Session>()
  const steps: Step[] = []
  for (const node of chain) {
    const session = sessions.get(node.server) ?? open(node.server)
    sessions.set(node.server, session)
    const step = take(node, steps, session, profile, random)
    if (!step) return null
    steps.push(step)
  }
  return isConnected(steps) ? steps : null
}

function take(
  node: Node,
  steps: readonly Step[],
  session: Session,
  profile: Profile,
  random: SeededRandom,
): Step | null {
  for (let attempt = 0; attempt < TRIES_PER_STEP; attempt++) {
    const bindings = bind(node, steps, session, profile, random)
    if (!bindings) continue
    const bound = Object.fromEntries(bindings.map(({ field, value }) => [field, value]))
    const sampled = session.sampleArguments(node.tool, random, bound)
    if (!sampled || bindings.some(({ field, value }) => sampled[field] !== value)) continue
    const args = withoutUnknownKeys(node, given(sampled), bindings, profile)
    const result = session.call(node.tool.name, args)
    if (result.ok) return { ...node, args, output: result.output as JsonObject, bindings }
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

/** Keys and common values for `node` from the results so far; `null` when one that it must be given is not there. */
function bind(
  node: Node,
  steps: readonly Step[],
  session: Session,
  profile: Profile,
  random: SeededRandom,
): Binding[] | null {
  const spoken = profile.keys === 'spoken'
  const must = lookedUp(node, spoken)
  const bindings: Binding[] = []
  const taken = new Set<string>()
  const previous = steps.at(-1)
  for (const [field, schema] of random.shuffle(Object.entries(node.tool.input.shape))) {
    const { entity, common } = meaningOf(schema)
    if (entity === undefined) {
      const crossed = common !== undefined && previous !== undefined && previous.server !== node.server
      const value =
        crossed && !schema.isOptional() ? bindCommon(previous, steps.length - 1, field, common, random) : undefined
      if (value) bindings.push(value)
      continue
    }
    if (schema.isOptional()) continue
    // A short memory is natural where keys may be spoken anyway: only the result just seen is referred to.
    const sources = spoken ? steps.slice(-1) : steps
    const first = steps.length - sources.length
    const found = sources
      .flatMap((step, i) => (step.server === node.server ? keysIn(step, first + i, entity) : []))
      .filter(({ key }) => !taken.has(key))
    const nearest = Math.max(-1, ...found.map(({ source }) => source))
    const candidates = found.filter(({ source }) => source === nearest || random.chance(OLDER_RESULT))
    if (candidates.length > 0 && !(spoken && bindings.length > 0)) {
      const { key, source } = random.pick(candidates)
      const ways = waysToRefer(steps[source]!, entity, key, labelIn(session, node, entity, key))
      if (ways.length > 0) {
        taken.add(key)
        bindings.push({ field, value: key, source, entity, ways })
        continue
      }
    }
    if (must.has(field)) return null
  }
  return bindings
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

function bindCommon(
  step: Step,
  source: number,
  field: string,
  common: string,
  random: SeededRandom,
): Binding | undefined {
  const values = commonValuesIn(step, common)
  if (values.length === 0) return undefined
  const { value } = random.pick(values)
  return { field, value, source, entity: undefined, ways: [{ how: 'value', noun: common, value }] }
}
