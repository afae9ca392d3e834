import type { Json, JsonObject } from '../../../rollout/reward/index.js'
import {
  isOptional,
  meaningOf,
  requiredReferences,
  type SeededRandom,
  type Session,
  type SpokenEnvironment,
} from '../../../servers/kernel/index.js'
import type { Profile } from '../../dataset/profile.js'
import { bind, type Course } from './bind.js'
import { kindsGiven, lookedUp, type Node } from './graph.js'
import { isHasty } from './known-in-time.js'
import { saidBefore } from './said-before.js'
import type { Chain } from './split.js'
import type { Parts } from './state-references.js'
import type { Binding, Step } from './step.js'

/** Draws that come to nothing, or to a call that was made in vain, before it is held that there are no others. */
const REPEATS = 6
/** Samples of arguments for one step before the walk is given up. */
const TRIES_PER_STEP = 8
/** The same for a look-up whose result is to show what a later call can be made with: most show one thing at random. */
const TRIES_PER_LOOK_UP = { plain: 64, natural: 24 } as const
/** How often a call is for what an earlier look-up was for, where its sampler can do with that. */
const CARRIES = 0.75

/**
 * Whether every call has to do with another: it takes over a value, gives one, or one makes a fact true that the other
 * needs. Otherwise the chain would be two tasks side by side. A call alone is one task.
 */
function isConnected(steps: readonly Step[]): boolean {
  const linked = (a: Step, b: Step): boolean =>
    a.environment === b.environment && (b.tool.needs ?? []).some((fact) => a.tool.establishes?.includes(fact))
  if (steps.length === 1) return true
  return steps.every(
    (step, i) =>
      step.bindings.length > 0 ||
      steps.some(({ bindings }) => bindings.some(({ source }) => source === i)) ||
      steps.some((other, j) => (j < i ? linked(other, step) : linked(step, other))),
  )
}

/**
 * Executes a chain in fresh sessions, with arguments from the live state. Keys that are looked up come from earlier
 * results, and everything else comes from the tool's sampler.
 * @param partings  ways to ask for it in turns, if any: what a step takes over can be told in one of them
 * @returns `null` when this state has nothing that fits
 */
export function walk(
  chain: Chain,
  open: (environment: SpokenEnvironment) => Session,
  profile: Profile,
  random: SeededRandom,
  partings?: readonly Parts[],
): Step[] | null {
  const sessions = new Map<SpokenEnvironment, Session>()
  const steps: Step[] = []
  let left = partings
  for (const [i, node] of chain.entries()) {
    const session = sessions.get(node.environment) ?? open(node.environment)
    sessions.set(node.environment, session)
    const taken = take(node, usersOf(chain, i, profile), { steps, session, profile, random, partings: left })
    if (!taken) return null
    steps.push(taken.step)
    left = taken.partings?.filter((parts) => isUnhurried(steps, parts))
    if (left?.length === 0) return null
  }
  return isConnected(steps) ? steps : null
}

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
    if (node.environment !== lookUp.environment) continue
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
  { environment, tool }: Node,
  args: JsonObject,
  bindings: readonly Binding[],
  { keys }: Profile,
): JsonObject {
  if (keys === 'spoken') return args
  return Object.fromEntries(
    Object.entries(args).filter(([field]) => {
      const schema = tool.input.shape[field]!
      const { entity } = meaningOf(schema)
      if (entity === undefined || !isOptional(schema) || environment.entities[entity]?.sayable) return true
      return bindings.some((binding) => binding.field === field)
    }),
  )
}
