import { meaningOf, type SeededRandom } from '../../servers/kernel/index.js'
import { nodeName } from '../../servers/kernel/tool-graph.js'
import { askForAll, isUnderstood, NUMBERS_ASKED } from './ask-for-all.js'
import { assemble, buildTask } from './assemble.js'
import type { Script } from './conversation-script.js'
import { chooseToolset, rivals } from './draw-toolset.js'
import { firstObjection } from './filters.js'
import { groundTruthOf, toTell } from './ground-truth.js'
import { questionsDue } from './questions-due.js'
import { isSolvable, nodesIn } from './solvable.js'
import { chainName } from './split.js'
import { type Maker, TODAY } from './synthesis-context.js'
import { coreAround, homeOf, shapeRandom, takeSteps } from './take-steps.js'
import type { Step } from './walk.js'
import { askOf, callOf, putIntoWords, type Worded } from './word-conversation.js'

/** Of the tasks whose tools are hidden, those in which it is the last one alone: what comes before it is done. */
const PARTLY = 0.4
/**
 * How much more often than first turns that calls answer those with hidden tools only name the goal: of clarification tasks others never
 * do, so that all of them together do as often.
 */
const VAGUE = 2.4
/** Of the users who are told that there is no tool, those who insist. */
const INSISTS = 0.35

/** The right answer is a question or a refusal: needed tools are hidden, or a required value is missing. */
export const makeClarification: Maker = (assignment, worldSeed, context, random) => {
  const shape = shapeRandom(assignment, context)
  if (!shape.chance(context.profile.missingFunction)) return makeMissingValue(assignment, worldSeed, context, random)
  const make = shape.chance(PARTLY) ? makePartlyHidden : makeHidden
  return make(assignment, worldSeed, context, random)
}

/** Every tool that the request needs is hidden, and nothing on offer does instead. */
const makeHidden: Maker = (assignment, worldSeed, context, random) => {
  const { profile, speech } = context
  const core = coreAround(assignment, context, random)
  const taken = takeSteps(assignment, core, random.pick(NUMBERS_ASKED), worldSeed, context, random)
  if (typeof taken === 'string') return taken
  if (taken.undoings.length > 0) return 'undone'
  const { chain, open } = taken
  const persona = context.drawPersona(random)
  const moment = { persona, today: TODAY, dated: profile.context, random }
  const script = askForAll(taken.steps, random, { vague: random.chance(VAGUE * profile.information.minimal) })
  if (!script) return 'no_script'
  const worded = putIntoWords(script, speech, moment)
  if (!worded) return 'no_words'
  const isVague = script.information === 'minimal'
  if (!isVague && !isUnderstood(script, worded, context)) return 'reference'
  const { steps } = script
  const hidden = new Set([...chain.map(nodeName), ...rivals(steps, new Set(steps.keys()))])
  const request = { home: homeOf(chain), needed: [], hidden, distractors: true }
  const toolset = chooseToolset(request, context.servers, profile, random)
  if (toolset.length === 0) return 'no_walk'
  const offered = nodesIn(toolset, context.catalogue)
  if (taken.steps.some((_, i) => isSolvable(taken.steps, i, offered, open, random))) return 'solvable'
  const users = [worded.exchanges[0]!.user, ...(random.chance(INSISTS) ? [speech.insist({ ...moment, turn: 1 })] : [])]
  const exchanges = users.map((user, turn) => ({ user, calls: [], assistant: speech.decline({ ...moment, turn }) }))
  const task = buildTask(
    { kind: 'clarification', toolset, turns: users, groundTruth: [], chain: chainName(chain) },
    { worldSeed, persona, profile, random },
  )
  const silent: Worded = { exchanges, origins: [], turnOf: [] }
  return assemble(assignment, task, { information: script.information, recovery: null }, persona, silent, context)
}

/** The last tool that the request needs is hidden: what comes before it is done and counts, and the rest is declined. */
const makePartlyHidden: Maker = (assignment, worldSeed, context, random) => {
  const { profile, speech, catalogue, denotes } = context
  const core = coreAround(assignment, context, random)
  const taken = takeSteps(assignment, core, random.pick(PARTS), worldSeed, context, random)
  if (typeof taken === 'string') return taken
  if (taken.undoings.length > 0) return 'undone'
  const { chain, open } = taken
  const last = chain.at(-1)!
  const persona = context.drawPersona(random)
  const moment = { persona, today: TODAY, dated: profile.context, random }
  const whole = askForAll(taken.steps, random)
  if (!whole) return 'no_script'
  const asked = putIntoWords(whole, speech, moment)
  if (!asked) return 'no_words'
  if (!isUnderstood(whole, asked, context)) return 'reference'
  const steps = whole.steps.slice(0, -1)
  const request = {
    home: homeOf(chain),
    needed: chain.slice(0, -1),
    hidden: new Set([nodeName(last)]),
    distractors: true,
  }
  const toolset = chooseToolset(request, context.servers, profile, random)
  const offered = nodesIn(toolset, catalogue)
  // Calls that are on offer and asked for are made first; what they tell of the rest is no way around it.
  if (isSolvable(taken.steps, taken.steps.length - 1, offered, open, random)) return 'solvable'
  const done = steps.map((step, i) => ({ ask: askOf(whole.steps, i, whole), output: step.output }))
  // What was looked up on the way to something that cannot be done is nothing to tell.
  const isTold = done.some(({ ask }) => !ask.silent)
  const assistant = isTold
    ? `${speech.report(done, { ...moment, turn: 0 })} ${speech.declineRest({ ...moment, turn: 0 })}`
    : speech.decline({ ...moment, turn: 0 })
  const worded: Worded = {
    exchanges: [{ user: asked.exchanges[0]!.user, calls: steps.map(callOf), assistant }],
    origins: asked.origins.slice(0, -1),
    turnOf: steps.map(() => 0),
  }
  const script: Script = {
    ...whole,
    steps,
    turns: [{ says: 'request', asks: [...steps.keys()], steps: [...steps.keys()] }],
  }
  const task = buildTask(
    {
      kind: 'clarification',
      toolset,
      turns: [asked.exchanges[0]!.user],
      groundTruth: groundTruthOf(steps, worded),
      ...toTell(steps, script, worded),
      chain: chainName(chain),
    },
    { worldSeed, persona, profile, random },
  )
  const example = assemble(assignment, task, { information: 'complete', recovery: null }, persona, worded, context)
  return firstObjection({ example, steps, script, open, catalogue, denotes, today: TODAY }) ?? example
}

/** Steps of a request whose last one cannot be done. */
const PARTS = [2, 2, 2, 3] as const

/** A value is left out that no tool can find. */
const makeMissingValue: Maker = (assignment, worldSeed, context, random) => {
  const { profile, speech } = context
  const core = coreAround(assignment, context, random)
  const taken = takeSteps(assignment, core, random.pick(NUMBERS_ASKED), worldSeed, context, random)
  if (typeof taken === 'string') return taken
  if (taken.undoings.length > 0) return 'undone'
  const { chain } = taken
  const persona = context.drawPersona(random)
  const script = withholding(taken.steps, random)
  if (!script) return 'no_script'
  const worded = putIntoWords(script, speech, { persona, today: TODAY, dated: profile.context, random })
  const questions = worded && questionsDue(script, worded)
  if (!worded || !questions) return 'no_words'
  if (!isUnderstood(script, worded, context)) return 'reference'
  const request = { home: homeOf(chain), needed: chain, hidden: new Set<string>(), distractors: true }
  const toolset = chooseToolset(request, context.servers, profile, random)
  const { user, assistant } = worded.exchanges[0]!
  const task = buildTask(
    { kind: 'clarification', toolset, turns: [user], groundTruth: [], ...questions, chain: chainName(chain) },
    { worldSeed, persona, profile, random },
  )
  const silent: Worded = { exchanges: [{ user, calls: [], assistant }], origins: [], turnOf: [] }
  return assemble(assignment, task, { information: 'missing', recovery: null }, persona, silent, context)
}

/** Leaves out a value that the first call cannot do without. */
function withholding(steps: readonly Step[], random: SeededRandom): Script | null {
  const { tool, args } = steps[0]!
  const isTakenUp = steps.some(({ bindings }) => bindings.some(({ source }) => source === 0))
  const fields = Object.entries(tool.input.shape).filter(([field, schema]) => {
    const value = args[field]
    if (schema.isOptional() || (typeof value !== 'string' && typeof value !== 'number')) return false
    // Nobody goes on about a thing before having said which it is.
    if (steps.length > 1 && (meaningOf(schema).entity !== undefined || isTakenUp)) return false
    return steps.every((other, i) => i === 0 || !Object.values(other.args).includes(value))
  })
  return fields.length === 0 ? null : askForAll(steps, random, { withheld: { step: 0, field: random.pick(fields)[0] } })
}
