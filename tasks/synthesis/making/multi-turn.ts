import { deriveSeed, type SeededRandom, seededRandom } from '../../../servers/kernel/index.js'
import type { Example, Recovery } from '../../dataset/example.js'
import { assemble, buildTask } from './assemble.js'
import { type Script, scriptConversation } from './conversation-script.js'
import { canCarry, drawRecovery, drawShape, partsOf, type Shape } from './conversation-shape.js'
import { drawRuled, ruledCore, wantedRole } from './domain-rule-case.js'
import { chooseToolset, rivals } from './draw-toolset.js'
import { firstObjection } from './filters.js'
import type { Link, ToolGraph } from './graph.js'
import { groundTruthOf, toTell } from './ground-truth.js'
import { pairedTools } from './pairs.js'
import { goesOn } from './purpose.js'
import { questionsDue } from './questions-due.js'
import { isUnderstoodUndone, roleOf, withRule } from './ruled-script.js'
import { type Chain, chainName } from './split.js'
import { type Assignment, type Maker, momentOf, type SynthesisContext, TODAY } from './synthesis-context.js'
import { coreAround, homeOf, settledRound, shapeRandom, takeSteps } from './take-steps.js'
import { putIntoWords } from './word-conversation.js'

/** A conversation that a chain of calls answers, over one or more user turns. */
export const makeMultiTurn: Maker = (assignment, environmentSeed, context, random) => {
  const { profile, speech, catalogue, denotes } = context
  const drawn = shapeRandom(assignment, context)
  const length = drawLength(assignment, context)
  const role = wantedRole(assignment, context)
  const isRuled = role === 'declined' || role === 'confirmed'
  const drawnShape = drawShape(profile, length, isRuled ? null : recoveryOf(assignment, context), drawn)
  const plain: Shape = isRuled ? { ...drawnShape, information: 'complete' } : drawnShape
  // What one environment tells is taken to another after it was told.
  const shape =
    role === undefined && goesElsewhere(assignment, context)
      ? { ...plain, requests: Math.max(2, plain.requests) }
      : plain
  const core =
    role === undefined ? coreOf(assignment, shape, context, random) : ruledCore(role, assignment, context, random)
  const wanted = {
    fits: (chain: Chain) => canCarry(chain, shape),
    partsOf: (chain: Chain) => partsOf(chain, shape),
  }
  const taken = takeSteps(assignment, core, length, environmentSeed, context, random, wanted)
  if (typeof taken === 'string') return taken
  const { chain, open } = taken
  const ruled = isRuled ? drawRuled(taken, role, random) : undefined
  if (ruled === null) return 'domainRules'
  const plan = scriptIn(SCRIPTS_PER_WALK, () => {
    const plain = scriptConversation(taken, shape, profile, random)
    return plain && (ruled ? withRule(plain, ruled) : { whole: plain, made: plain.steps.length, turn: 0 })
  })
  if (!plan) return 'no_script'
  const { whole, made } = plan
  const persona = context.inEnvironments(
    context.drawPersona(random),
    homeOf(chain).map(({ name }) => name),
  )
  const said = putIntoWords(whole, speech, momentOf(assignment, context, persona, random))
  if (said && ruled && !isUnderstoodUndone(plan, said, context)) return 'reference'
  const steps = whole.steps.slice(0, made)
  const script: Script = { ...whole, steps }
  const worded = said && { ...said, origins: said.origins.slice(0, made) }
  const questions = worded && questionsDue(whole, worded)
  if (!worded || !questions) return 'no_words'
  const toolset = chooseToolset(
    { home: homeOf(chain), needed: chain, hidden: rivals(whole.steps, script.silent), distractors: true },
    context.environments,
    profile,
    random,
  )
  const task = buildTask(
    {
      kind: 'multi-turn',
      toolset,
      turns: worded.exchanges.map(({ user }) => user),
      groundTruth: groundTruthOf(steps, worded),
      ...toTell(steps, script, worded),
      ...questions,
      chain: chainName(chain),
    },
    { environmentSeed, persona, profile, random },
  )
  const example: Example = {
    ...assemble(assignment, task, script, persona, worded, context),
    ...(ruled ? { domainRules: roleOf(ruled, plan) } : {}),
  }
  return firstObjection({ example, steps, script, open, catalogue, denotes, today: TODAY }) ?? example
}

/** Walks cost more than scripts: one that was found is given several chances. */
const SCRIPTS_PER_WALK = 10

function scriptIn<T>(tries: number, draw: () => T | null): T | null {
  for (let left = tries; left > 0; left--) {
    const script = draw()
    if (script) return script
  }
  return null
}

/**
 * Whether something goes wrong is settled for good, not once per round: otherwise the rounds to come would leave it out, for it is
 * hard to find. What it is may change after a while, and at last it is left out: some splits have no chain for each kind.
 */
function recoveryOf({ index, round }: Assignment, { profile, seed }: SynthesisContext): Recovery | null {
  if (round >= ROUNDS_WITH_RECOVERY) return null
  if (!seededRandom(deriveSeed('prove/recovery/1', seed, index)).chance(profile.recovery)) return null
  return drawRecovery(
    seededRandom(deriveSeed('prove/recovery/2', seed, index, Math.floor(round / ROUNDS_PER_RECOVERY))),
  )
}

const ROUNDS_PER_RECOVERY = 6
const ROUNDS_WITH_RECOVERY = 18

/** Whether the chain goes on in another environment, settled likewise. */
function goesElsewhere({ index, round }: Assignment, { profile, seed }: SynthesisContext): boolean {
  if (round >= ROUNDS_WITH_CROSSING) return false
  return seededRandom(deriveSeed('prove/crossing/1', seed, index)).chance(profile.crossEnvironment)
}

const ROUNDS_WITH_CROSSING = 18

/** Links by which people go on in another environment, if possible those of the tool that is wanted. */
function crossingsOf(graph: ToolGraph, { target }: Assignment): readonly Link[] {
  const { crossings } = rareLinksOf(graph)
  const own = [...crossings.filter(({ to }) => to === target), ...crossings.filter(({ from }) => from === target)]
  return own.length > 0 ? own : crossings
}

/** Links that chains are built around where something is wanted that few chains have. */
interface RareLinks {
  /** By which people go on in another environment. */
  readonly crossings: readonly Link[]
  /** From a call to one that only works after it, and says all that the first is about. */
  readonly setUps: readonly Link[]
}

const rareLinks = new WeakMap<ToolGraph, RareLinks>()

function rareLinksOf(graph: ToolGraph): RareLinks {
  let found = rareLinks.get(graph)
  if (!found) {
    const crossings = graph.links.filter(({ kind, from, to }) => kind === 'cross-environment' && goesOn(from, to))
    const setUps = graph.links.filter(({ kind, from, to }) => {
      const known = Object.keys(to.tool.input.shape)
      const plain = Object.keys(from.tool.input.shape).every((field) => known.includes(field))
      return kind === 'implicit' && plain && !from.tool.annotations.readOnly
    })
    found = { crossings, setUps }
    rareLinks.set(graph, found)
  }
  return found
}

/** Few chains hold a call that only works after another: where one is wanted, the chain is built around such a pair. */
function coreOf(assignment: Assignment, { recovery }: Shape, context: SynthesisContext, random: SeededRandom): Chain {
  const { graph } = context
  const crossings = goesElsewhere(assignment, context) ? crossingsOf(graph, assignment) : []
  if (crossings.length > 0) {
    const { from, to } = random.pick(crossings)
    return [from, to]
  }
  const isRare = assignment.split !== 'train' || (recovery !== null && assignment.round > 0)
  if (recovery !== 'other-tool') return coreAround(assignment, context, random, isRare)
  const { setUps } = rareLinksOf(graph)
  if (setUps.length === 0) return [assignment.target]
  const { from, to } = random.pick(setUps)
  return [from, to]
}

/**
 * A length by the profile's weights. Some tools have no chains of two: the others take these over, so that their share is
 * as it should be. Longer ones are harder to find, so a length is not drawn anew for every round.
 */
function drawLength(assignment: Assignment, context: SynthesisContext): number {
  const { target, index } = assignment
  const { profile, graph, seed } = context
  const settled = settledRound(assignment, context, ROUNDS_PER_LENGTH)
  const random = seededRandom(deriveSeed('prove/length/1', seed, index, settled))
  const [two, ...longer] = shareOf(profile.lengths)
  const able = pairedTools(graph, profile.keys === 'spoken')
  const pairs = able.has(target) ? Math.min(1, (two! * graph.nodes.length) / able.size) : 0
  return random.chance(pairs) ? 2 : 3 + drawIndex(longer, random)
}

/** In plain speech, where examples keep their tools as long. */
const ROUNDS_PER_LENGTH = 3

const shareOf = (weights: readonly number[]): number[] => {
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / whole)
}

function drawIndex(weights: readonly number[], random: SeededRandom): number {
  let left = random.int(0, 999_999) / 1_000_000
  const drawn = shareOf(weights).findIndex((share) => {
    left -= share
    return left < 0
  })
  return Math.max(0, drawn)
}
