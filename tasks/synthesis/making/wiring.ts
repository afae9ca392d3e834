import { z } from 'zod'
import {
  isOptional,
  meaningOf,
  requiredReferences,
  type SpokenEnvironment,
  type ToolDefinition,
} from '../../../servers/kernel/index.js'
import { lookedUp, type Node } from '../graph.js'
import { itemAt } from '../item-at.js'
import { oncePer } from '../once-per.js'
import { canAskForSeveral, commitsTo } from './asked-together.js'
import { checksOf } from './purpose.js'
import type { Chain } from './split.js'
import { kindsStated } from './stated-kinds.js'

/** A thing that calls of a chain are about, before it is known which one it is. */
export interface Thing {
  readonly kind: string
  /** The call whose result shows the thing first. For a thing that the user names by its key, the call that takes it. */
  readonly source: number
  readonly how: 'found' | 'made' | 'named'
}

/** The things of a chain: which call takes which, and what each result is about. */
export interface Wiring {
  readonly things: readonly Thing[]
  /** Per call, its required keys: field and index of the thing. */
  readonly keys: readonly (readonly (readonly [field: string, thing: number])[])[]
  /** Per call, the thing that its result is about, if it is about one. */
  readonly about: readonly (number | undefined)[]
  /** The call that continues in another environment, and the call of the first environment whose result it takes up. */
  readonly crossing: { readonly source: number; readonly at: number } | undefined
}

/** Declarations of a tool about its keys. Kinds are named with their environment: `banking account`. */
export interface Keys {
  readonly required: readonly (readonly [field: string, kind: string])[]
  readonly must: ReadonlySet<string>
  readonly shown: ReadonlySet<string>
  readonly about: string | undefined
}

export const keysOf = ({ environment, tool }: Node): Keys => keysIn(environment)(tool)

const keysIn = oncePer((environment: SpokenEnvironment) =>
  oncePer((tool: ToolDefinition): Keys => {
    const node = { environment, tool }
    const kindOf = (entity: string): string => `${environment.name} ${entity}`
    const about = Object.values(tool.output.shape)
      .filter((field) => !isOptional(field as z.ZodType) && !(field instanceof z.ZodArray))
      .map((field) => meaningOf(field as z.ZodType).entity)
      .find((kind) => kind !== undefined)
    return {
      required: requiredReferences(tool.input).map(([field, entity]) => [field, kindOf(entity)]),
      must: new Set(lookedUp(node, false).map(([field]) => field)),
      shown: new Set([...kindsStated(node, false)].map(kindOf)),
      about: about === undefined ? undefined : kindOf(about),
    }
  }),
)

/** A chain that grows call by call. */
export interface GrowingChain {
  readonly nodes: Chain
  readonly keys: readonly Keys[]
  readonly wiring: Wiring
  /** The newest thing of each kind. */
  readonly newest: ReadonlyMap<string, number>
}

export const NO_CALLS: GrowingChain = {
  nodes: [],
  keys: [],
  wiring: { things: [], keys: [], about: [], crossing: undefined },
  newest: new Map(),
}

/**
 * Says which thing each call of a chain is given. People stay with one thing: a kind that was taken or made before means the same thing again.
 * @returns `undefined` if a key is shown by no earlier call and people do not say it
 */
export function wire(chain: Chain): Wiring | undefined {
  let grown: GrowingChain | undefined = NO_CALLS
  for (const node of chain) grown = grown && withCall(grown, node)
  return grown?.wiring
}

/** Returns a chain with one more call. @returns `undefined` where `wire` does */
export function withCall({ nodes, keys: facts, wiring, newest }: GrowingChain, node: Node): GrowingChain | undefined {
  const at = nodes.length
  const own = keysOf(node)
  const isLook = node.tool.annotations.readOnly
  const things = [...wiring.things]
  const latest = new Map(newest)
  const keys: [string, number][] = []
  for (const [field, kind] of own.required) {
    const earlier = newest.get(kind)
    if (earlier !== undefined && !keys.some(([, thing]) => thing === earlier)) {
      // What the user named by its key can be meant again only by a result that shows it.
      const { how, source: from } = itemAt(things, earlier)
      if (how === 'named' && !wiring.about.some((one, i) => one === earlier && i >= from)) return undefined
      keys.push([field, earlier])
      continue
    }
    // Another thing of a kind comes from a result that shows several.
    const source = facts.findLastIndex(
      ({ shown, about }) => shown.has(kind) && (earlier === undefined || about !== kind),
    )
    if (source < 0 && own.must.has(field)) return undefined
    const how = source < 0 ? 'named' : nodes[source]?.tool.annotations.readOnly ? 'found' : 'made'
    keys.push([field, things.push({ kind, source: source < 0 ? at : source, how }) - 1])
  }
  for (const [, thing] of keys) latest.set(itemAt(things, thing).kind, thing)
  let about: number | undefined
  if (own.about !== undefined) {
    const taken = keys.find(([, thing]) => things[thing]?.kind === own.about)?.[1]
    about = taken ?? things.push({ kind: own.about, source: at, how: isLook ? 'found' : 'made' }) - 1
    latest.set(own.about, about)
  }
  const last = nodes.at(-1)
  const crossing = last && last.environment !== node.environment ? { source: at - 1, at } : undefined
  return {
    nodes: [...nodes, node],
    keys: [...facts, own],
    wiring: {
      things,
      keys: [...wiring.keys, keys],
      about: [...wiring.about, about],
      crossing: wiring.crossing ?? crossing,
    },
    newest: latest,
  }
}

/** Things that a call takes, and the one that its result is about. */
const thingsOf = ({ keys, about }: Wiring, at: number): number[] => {
  const taken = (keys[at] ?? []).map(([, thing]) => thing)
  const one = about[at]
  return one === undefined || taken.includes(one) ? taken : [...taken, one]
}

const shares = (some: readonly number[], others: readonly number[]): boolean =>
  some.some((thing) => others.includes(thing))

/** Returns for each call the other calls that take a thing out of its result. */
function usersIn({ keys, things, crossing }: Wiring): number[][] {
  const users = keys.map((): number[] => [])
  for (const [at, own] of keys.entries()) {
    const sources = new Set(own.map(([, thing]) => itemAt(things, thing).source))
    if (crossing?.at === at) sources.add(crossing.source)
    for (const source of sources) if (source !== at) users[source]?.push(at)
  }
  return users
}

/** Whether the later call needs a fact that the earlier one makes true. */
export const isPreparedBy = (earlier: Node, later: Node): boolean =>
  earlier.environment === later.environment &&
  (later.tool.needs ?? []).some((fact) => earlier.tool.establishes?.includes(fact))

/**
 * Returns whether a chain has one purpose, as far as its tools show. `hasOnePurpose` and `lookUpsAreWorthIt` ask the same of calls with
 * arguments.
 */
export function hasOnePurposeByTools(chain: Chain, wiring: Wiring): boolean {
  const last = chain.length - 1
  const looks = chain.map(({ tool }) => tool.annotations.readOnly)
  const searches = chain.map((_, at) => looks[at] && wiring.about[at] === undefined)
  const users = usersIn(wiring)
  const takesFrom = (at: number, source: number): boolean => users[source]?.includes(at) === true
  const finds = chain.map((_, at) => searches[at] && (users[at]?.length ?? 0) > 0)
  if (searches.some((isSearch, at) => isSearch && !finds[at] && at < last)) return false
  const things = chain.map((_, at) => thingsOf(wiring, at))
  const of = (at: number): number[] => things[at] ?? []
  const groups = chain.map((_, at) => at)
  const join = (a: number, b: number): void => {
    const [from, to] = [groups[a], groups[b]]
    for (const [i, group] of groups.entries()) if (group === from) groups[i] = to as number
  }
  for (const [j, later] of chain.entries()) {
    if (looks[j] && users[j]?.length === 0 && !isWorthIt(chain, things, j)) return false
    const isLinked =
      chain.length === 1 ||
      (users[j]?.length ?? 0) > 0 ||
      chain.some((other, i) =>
        i < j
          ? isPreparedBy(other, later) || takesFrom(j, i) || shares(of(i), of(j))
          : i > j && (isPreparedBy(later, other) || shares(of(i), of(j))),
      )
    if (!isLinked) return false
    for (const [i, earlier] of chain.slice(0, j).entries()) {
      if (earlier.environment !== later.environment) {
        if (takesFrom(j, i) && !finds[i] && !finds[j]) join(i, j)
        continue
      }
      const isOwn = (wiring.keys[j] ?? []).some(
        ([, thing]) => wiring.things[thing]?.source === i && (finds[j] || !searches[j] || of(i).includes(thing)),
      )
      if (!((isOwn && !finds[i]) || shares(of(i), of(j)) || isPreparedBy(earlier, later))) continue
      if (!finds[i] && !finds[j]) join(i, j)
      else if (!finds[i]) for (const user of users[j] ?? []) join(i, user)
    }
    if (!finds[j]) continue
    for (let k = j + 1; k <= last; k++)
      if (!finds[k] && shares(of(j), of(k))) for (const user of users[j] ?? []) join(k, user)
  }
  return new Set(groups.filter((_, at) => !finds[at])).size <= 1
}

/** Whether a look-up of which nothing is used is one that people make after the call before it. */
function isWorthIt(chain: Chain, things: readonly (readonly number[])[], at: number): boolean {
  const node = chain[at] as Node
  const changed = chain.findLastIndex(
    ({ environment, tool }, i) => i < at && environment === node.environment && !tool.annotations.readOnly,
  )
  const isOfOne = (other: number): boolean => {
    const [about] = things[at] ?? []
    return about !== undefined && (things[other] ?? []).includes(about)
  }
  for (let i = changed + 1; i < at; i++) {
    const look = chain[i] as Node
    if (look.environment === node.environment && checksOf(look)?.includes(node.tool.name) === false && isOfOne(i))
      return false
  }
  const after =
    changed < 0 ? chain.findLastIndex(({ environment }, i) => i < at && environment === node.environment) : changed
  const before = chain[after]
  if (!before) return true
  const checks = checksOf(before)
  if (checks) return checks.includes(node.tool.name) || (changed < 0 && !isOfOne(after))
  return changed < 0 || !isOfOne(after)
}

/**
 * Returns whether a chain can be asked for in these turns, as far as its tools show. No turn asks how a thing is and has it changed in the same
 * breath. A thing that a turn looks up and uses can be named before it is found.
 */
export const canBeAskedInTurns = (chain: Chain, wiring: Wiring, parts: readonly (readonly number[])[]): boolean => {
  const known = askableParts(wiring)
  return parts.every((part) => {
    const name = part.join()
    const isAskable = known.get(name) ?? canBeAskedAtOnce(chain, wiring, part)
    known.set(name, isAskable)
    return isAskable
  })
}

const askableParts = oncePer((_: Wiring) => new Map<string, boolean>())

const canBeAskedAtOnce = (chain: Chain, wiring: Wiring, part: readonly number[]): boolean =>
  part.every((at) => {
    const node = itemAt(chain, at)
    const keys = wiring.keys[at] ?? []
    const isChange = !node.tool.annotations.readOnly
    const isHasty = (look: number): boolean =>
      look < at &&
      isChange &&
      chain[look]?.tool.annotations.readOnly === true &&
      (wiring.keys[look] ?? []).some(([, thing]) => keys.some(([, own]) => own === thing))
    if (part.some(isHasty) || (wiring.crossing?.at === at && part.includes(wiring.crossing.source))) return false
    return keys.every(([, index]) => {
      const thing = itemAt(wiring.things, index)
      const isFirst = !wiring.keys.some(
        (other, i) => i > thing.source && i < at && other.some(([, one]) => one === index),
      )
      if (thing.how !== 'found' || !isFirst || thing.source === at || !part.includes(thing.source)) return true
      return wiring.about[thing.source] === index || canBeUsedAtOnce(itemAt(chain, thing.source), entityOf(thing), node)
    })
  })

/** The kind of a thing without its environment. */
export const entityOf = ({ kind }: Thing): string => kind.slice(kind.indexOf(' ') + 1)

/**
 * Whether an entry of a list can be meant in the turn that asks for the list: nobody asks for the list, it is searched for a name, or the
 * entry is the cheapest of it.
 */
function canBeUsedAtOnce(list: Node, entity: string, user: Node): boolean {
  const fields = Object.values(list.tool.input.shape)
  if (fields.every((field) => isOptional(field))) return true
  const commits = commitsTo(user, list.environment.entities[entity]?.noun)
  if (!commits && fields.some((field) => isText(field))) return true
  return user.tool.annotations.readOnly && canAskForSeveral(list, entity)
}

/** Whether a field takes any words, such as a name that is searched for. */
function isText(field: z.ZodType): boolean {
  const { entity, common } = meaningOf(field)
  return entity === undefined && common === undefined && field.safeParse('some words').success
}
