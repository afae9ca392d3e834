import type { JsonObject } from '../../../rollout/reward/index.js'
import { meaningOf, type SeededRandom, type Session, type SpokenEnvironment } from '../../../servers/kernel/index.js'
import type { Profile } from '../../dataset/profile.js'
import type { Node } from '../graph.js'
import { itemAt } from '../item-at.js'
import {
  type Arguments,
  accepts,
  bindingTo,
  type Course,
  canBeMeantNext,
  drawArguments,
  keysIn,
  stepsWithNext,
} from './arguments.js'
import { aboutIn } from './contradictions.js'
import { isHasty } from './known-before.js'
import { commonValuesIn } from './references.js'
import { saidBefore } from './repeated-values.js'
import type { Chain } from './split.js'
import type { Open, Parts, Step } from './step.js'
import { entityOf, isPreparedBy, type Wiring } from './wiring.js'

/** Calls that are tried for a whole chain before it is given up. */
const MOST_CALLS = 24
/** Draws of arguments for one call, and for a look-up whose result is to show what a later call is made with. */
const DRAWS = 8
const DRAWS_PER_LOOK_UP = 16
/** Draws in a row that find no arguments, or arguments that were tried, before it is held that there are no others. */
const REPEATS = 6
/** Ways to go on after a call before it is given up. */
const BRANCHES = 5
/** How often a call is for what an earlier look-up was for, where its sampler can do with that. */
const CARRIES = 0.75

/** Which chain to execute, and how. */
export interface WalkOptions {
  readonly wiring?: Wiring
  readonly open: Open
  readonly profile: Profile
  readonly random: SeededRandom
  /** Ways to ask for the chain in turns: what a call takes over can be told in one of them. */
  readonly partings?: readonly Parts[] | undefined
  /** Whether the calls of a whole chain will do in one of these ways; otherwise others are looked for. */
  isEnough?(steps: readonly Step[], partings: readonly Parts[] | undefined): boolean
}

/** A key of a later call, and what it can be. */
interface ShownKey {
  readonly field: string
  readonly entity: string
  readonly source: number
  readonly keys: readonly string[]
}

/** A walk so far. */
interface Progress extends Pick<Course, 'steps' | 'settled' | 'partings'> {
  readonly sessions: ReadonlyMap<SpokenEnvironment, Session>
}

/**
 * Executes a chain in fresh sessions, with arguments from the live state. Where a call leaves the next ones nothing to be made with, another
 * one takes its place.
 * @returns `undefined` when this state has nothing that fits
 */
export function walk(
  chain: Chain,
  { wiring, open, profile, random, partings, isEnough = () => true }: WalkOptions,
): Step[] | undefined {
  let calls = MOST_CALLS
  const isNatural = profile.speech === 'natural'
  function from(progress: Progress): Step[] | undefined {
    const { steps, sessions } = progress
    const node = chain[steps.length]
    if (!node) return (wiring || isConnected(steps)) && isEnough(steps, progress.partings) ? [...steps] : undefined
    const before = sessions.get(node.environment) ?? open(node.environment)
    const course: Course = { ...progress, session: before, profile, random, wiring }
    const tried = new Set<string>()
    let [repeats, branches] = [0, 0]
    for (let left = node.tool.annotations.readOnly ? DRAWS_PER_LOOK_UP : DRAWS; left > 0 && calls > 0; left--) {
      const said = isNatural && random.chance(CARRIES) ? saidBefore(node, steps) : {}
      const drawn = drawArguments(node, course, said)
      const name = drawn && JSON.stringify(drawn.args)
      if (!drawn || tried.has(name as string)) {
        if (++repeats === REPEATS) return undefined
        continue
      }
      tried.add(name as string)
      calls--
      const next = taken(node, drawn, course, sessions)
      if (!next || next.partings?.length === 0 || !leavesEnough(next)) continue
      const found = from(next)
      if (found) return found
      if (++branches === BRANCHES) return undefined
    }
    return undefined
  }

  /** Makes a call. @returns `undefined` if the environment rejects it */
  function taken(
    node: Node,
    drawn: Arguments,
    { steps, session }: Course,
    sessions: Progress['sessions'],
  ): Progress | undefined {
    const after = session.fork()
    const result = after.call(node.tool.name, drawn.args)
    if (!result.ok) return undefined
    const step: Step = { ...node, args: drawn.args, output: result.output as JsonObject, bindings: drawn.bindings }
    const all = [...steps, step]
    const settled = new Map(drawn.settled)
    const about = wiring?.about[steps.length]
    const [one] = about === undefined ? [] : aboutIn(node.tool, step.output)
    if (about !== undefined && one) {
      const table = node.environment.entities[one.entity]?.table ?? ''
      const key = settled.get(about)
      // What is moved has another key from then on.
      const isMoved = key !== undefined && session.db[table]?.has(key) && !after.db[table]?.has(key)
      if (key === undefined || isMoved) settled.set(about, one.key)
    }
    const left = drawn.partings?.filter((parts) =>
      parts.every(
        (part) =>
          !isHasty(
            all,
            part.filter((at) => at < all.length),
          ),
      ),
    )
    return { steps: all, settled, partings: left, sessions: new Map(sessions).set(node.environment, after) }
  }

  /** Whether later calls can be made with what the calls so far show, as long as nothing changes in between. */
  function leavesEnough({ steps, settled, sessions, partings: left }: Progress): boolean {
    if (!wiring) return true
    const last = steps.length - 1
    const step = itemAt(steps, last)
    const session = sessions.get(step.environment)
    if (wiring.crossing?.source === last && !tellsCommon(step, itemAt(chain, last + 1))) return false
    for (const [at, node] of [...chain.entries()].slice(last + 1)) {
      if (node.environment !== step.environment || !session) return true
      const isPrepared = chain.slice(last + 1, at).some((other) => isPreparedBy(other, node))
      const keys = keysShown(at, node, { steps, settled })
      if (keys.length > 0 && !isPrepared && !canBeMade(node, at, keys, { steps, session, partings: left })) return false
      if (!node.tool.annotations.readOnly) return true
    }
    return true
  }

  /** The keys of a later call that are settled, or that results so far show. */
  function keysShown(at: number, node: Node, { steps, settled }: Pick<Progress, 'steps' | 'settled'>): ShownKey[] {
    return (wiring?.keys[at] ?? []).flatMap(([field, index]): ShownKey[] => {
      const thing = wiring?.things[index]
      const key = settled.get(index)
      if (!thing || (thing.how === 'named' && key === undefined) || (key === undefined && thing.source >= steps.length))
        return []
      const entity = entityOf(thing)
      const source =
        key === undefined ? thing.source : steps.findLastIndex((step) => keysIn(step, node, entity).includes(key))
      if (source < 0) return []
      return [
        {
          field,
          entity,
          source,
          keys: key === undefined ? random.shuffle(keysIn(itemAt(steps, source), node, entity)) : [key],
        },
      ]
    })
  }

  /** Whether some of the shown keys go together as arguments, and can be meant if the call is the next one. */
  function canBeMade(
    node: Node,
    at: number,
    [first, ...others]: readonly ShownKey[],
    course: Pick<Course, 'steps' | 'session' | 'partings'>,
    bound: Readonly<Record<string, string>> = {},
  ): boolean {
    if (!first) return accepts(course.session, node, random, bound) !== undefined
    const { field, entity, source, keys } = first
    const withNext = stepsWithNext(course.steps, node)
    return keys.some((key) => {
      if (Object.values(bound).includes(key)) return false
      const binding = bindingTo({ field, entity, key, source }, node, course)
      const isMeant =
        at > course.steps.length || (course.partings?.some((parts) => canBeMeantNext(binding, withNext, parts)) ?? true)
      return binding.ways.length > 0 && isMeant && canBeMade(node, at, others, course, { ...bound, [field]: key })
    })
  }

  return from({ steps: [], settled: new Map(), partings, sessions: new Map() })
}

/** Whether a result tells a city, address or date that a call in another environment takes. */
function tellsCommon(step: Step, { tool }: Node): boolean {
  return Object.values(tool.input.shape).some((schema) => {
    const { common } = meaningOf(schema)
    return common !== undefined && commonValuesIn(step, common).length > 0
  })
}

/** Whether every call has to do with another: it takes over a value, gives one, or one makes a fact true that the other needs. */
function isConnected(steps: readonly Step[]): boolean {
  if (steps.length === 1) return true
  return steps.every(
    (step, i) =>
      step.bindings.length > 0 ||
      steps.some(({ bindings }) => bindings.some(({ source }) => source === i)) ||
      steps.some((other, j) => (j < i ? isPreparedBy(other, step) : isPreparedBy(step, other))),
  )
}
