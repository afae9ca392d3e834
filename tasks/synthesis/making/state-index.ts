import { LRUCache } from 'lru-cache'
import type { JsonObject } from '../../../rollout/reward/index.js'
import { deriveSeed, type SeededRandom, type SeedStateCache, seededRandom } from '../../../servers/kernel/index.js'
import { type Node, nodeName } from '../graph.js'
import { itemAt } from '../item-at.js'
import { oncePer, oncePerName } from '../once-per.js'
import { accepts, keysIn } from './arguments.js'
import { failingVariant } from './failed-call.js'
import type { Chain } from './split.js'
import type { Open, Step } from './step.js'
import { entityOf, isPreparedBy, type Wiring } from './wiring.js'

/** Draws of arguments before it is held that a state has none: some samplers look at part of their tables only. */
const DRAWS = 3
/** Results of a look-up that are searched for a thing of use. */
const RESULTS = 16
/** Calls of a tool that are tried with a wrong value. */
const CALLS = 4
/** Environment seeds whose answers are kept. */
const SEEDS_KEPT = 64

/** Index of the state at the start of the sessions of one environment seed. The same seed gives the same answers on every machine. */
export interface StateIndex {
  /** Whether a tool can be called first. */
  isPossible(node: Node): boolean
  /** Whether a call that is made first fails for one wrong value, or fails the second time for one that is too large. */
  canFail(node: Node, again: boolean): boolean
  /** Whether a call fails that another call with the same arguments makes possible. */
  setsUp(first: Node, second: Node): boolean
  /** Whether every call of a chain is possible or prepared, and every first look-up shows something that its users can be used on. */
  canCarry(chain: Chain, wiring: Wiring | undefined): boolean
}

const indexesOf = oncePer((_: SeedStateCache) => new LRUCache<number, StateIndex>({ max: SEEDS_KEPT }))

/** Returns the index of an environment seed. Its answers are found when they are asked for, and kept. */
export function stateIndex(environmentSeed: number, seedStates: SeedStateCache): StateIndex {
  const known = indexesOf(seedStates)
  const index = known.get(environmentSeed) ?? createStateIndex(environmentSeed, seedStates)
  known.set(environmentSeed, index)
  return index
}

/** Arguments that another tool takes too. */
const sharedWith = ({ tool }: Node, args: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(args).filter(([field]) => field in tool.input.shape))

const definedIn = (args: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined)) as JsonObject

function createStateIndex(environmentSeed: number, seedStates: SeedStateCache): StateIndex {
  const open: Open = (environment) => seedStates.open(environment, environmentSeed)
  const answers = new Map<string, boolean>()
  const answer = (question: readonly string[], find: (random: SeededRandom) => boolean): boolean => {
    const name = question.join(' ')
    let found = answers.get(name)
    if (found === undefined) {
      found = find(seededRandom(deriveSeed('prove/state-index/1', environmentSeed, name)))
      answers.set(name, found)
    }
    return found
  }
  const some = (times: number, draw: () => boolean): boolean => Array.from({ length: times }).some(draw)

  const isPossible = oncePer((node: Node): boolean =>
    answer(['possible', nodeName(node)], (random) => {
      const session = open(node.environment)
      return some(DRAWS, () => session.sampleArguments(node.tool, random, {}) !== null)
    }),
  )

  /** Makes a call with drawn arguments in a fresh session. */
  function called(node: Node, random: SeededRandom): Step | undefined {
    const args = open(node.environment).sampleArguments(node.tool, random, {})
    return args ? resultsOf(node)(JSON.stringify(definedIn(args))) : undefined
  }

  /** Results of a tool in fresh sessions by the arguments: some samplers draw the same ones again and again. */
  const resultsOf = oncePer((node: Node) => {
    const known = new Map<string, Step | undefined>()
    return (written: string): Step | undefined => {
      if (!known.has(written)) {
        const args = JSON.parse(written) as JsonObject
        const result = open(node.environment).call(node.tool.name, args)
        known.set(written, result.ok ? { ...node, args, output: result.output as JsonObject, bindings: [] } : undefined)
      }
      return known.get(written)
    }
  })

  const canFail = oncePerName((node: Node, again: boolean): boolean =>
    answer(['fails', nodeName(node), String(again)], (random) =>
      some(CALLS, () => {
        const step = called(node, random)
        return step !== undefined && failingVariant({ steps: [step], open, random }, 0, again) !== null
      }),
    ),
  )

  const setsUp = (first: Node, second: Node): boolean =>
    answer(['sets up', nodeName(first), nodeName(second)], (random) =>
      some(CALLS, () => {
        const before = called(first, random)
        if (!before) return false
        const session = open(first.environment)
        session.call(first.tool.name, before.args)
        const args = accepts(session, second, random, sharedWith(second, before.args))
        return args !== undefined && !open(second.environment).call(second.tool.name, definedIn(args)).ok
      }),
    )

  /** Whether some result of a look-up shows a thing that a tool can be used on. */
  const shows = (lookUp: Node, user: Node, field: string, entity: string): boolean =>
    answer(['shows', nodeName(lookUp), nodeName(user), field], (random) => {
      const session = open(user.environment)
      const seen = new Set<string>()
      return some(RESULTS, () => {
        const step = called(lookUp, random)
        return (step ? keysIn(step, user, entity) : []).some((key) => {
          if (seen.has(key)) return false
          seen.add(key)
          return accepts(session, user, random, { [field]: key }) !== undefined
        })
      })
    })

  const isCarried = (chain: Chain, { things, keys }: Pick<Wiring, 'things' | 'keys'>): boolean =>
    chain.every((node, at) => {
      if (chain.slice(0, at).some((other) => isPreparedBy(other, node))) return true
      const isChange = (one: Node): boolean => one.environment === node.environment && !one.tool.annotations.readOnly
      const isShown = ([field, index]: readonly [string, number]): boolean => {
        const thing = itemAt(things, index)
        const { how, source } = thing
        if (how !== 'found' || source === at || (keys[source] ?? []).length > 0) return true
        return chain.slice(source, at).some(isChange) || shows(itemAt(chain, source), node, field, entityOf(thing))
      }
      return isPossible(node) && (keys[at] ?? []).every(isShown)
    })

  const carried = new WeakMap<Wiring, boolean>()
  return {
    isPossible,
    canFail,
    setsUp,
    canCarry(chain, wiring) {
      if (!wiring) return isCarried(chain, { things: [], keys: [] })
      const is = carried.get(wiring) ?? isCarried(chain, wiring)
      carried.set(wiring, is)
      return is
    },
  }
}
