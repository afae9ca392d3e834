import { offeredAt, type Task } from '../../../rollout/episode/index.js'
import { isOptional, meaningOf, type SeededRandom } from '../../../servers/kernel/index.js'
import type { Example } from '../../dataset/example.js'
import { type Node, nodeName } from '../graph.js'
import { itemAt, lastOf } from '../item-at.js'
import { canLeaveOut } from '../wording/request-clause.js'
import { assemble, buildTask } from './assemble.js'
import { type Script, scriptConversation, type Withheld } from './conversation-script.js'
import { fieldsToLeaveOut, isWhole, type Shape } from './conversation-shape.js'
import { groundTruthOf, toTell } from './ground-truth.js'
import { firstObjection, type ObjectionName, OF_CONVERSATIONS } from './objections.js'
import type { Missing } from './plan.js'
import { isSolvable, isStatedBefore, nodesIn } from './solvable.js'
import { type Chain, chainName } from './split.js'
import type { ExecutedChain, Step } from './step.js'
import { type Maker, momentOf, type Setting } from './synthesis-context.js'
import { homeOf, takeSteps, toolAround, type Wanted } from './take-steps.js'
import { TODAY } from './today.js'
import { chooseToolset, isTooSmall, rivals, similarTools } from './toolset.js'
import {
  askForAll,
  askUnanswered,
  continueUnanswered,
  isUnderstood,
  NUMBERS_ASKED,
  triedOften,
  type UnansweredRequest,
  type UnansweredSetting,
} from './unanswered-request.js'
import { askOf, callOf, precededBy, putIntoWords, type Worded } from './word-conversation.js'

/**
 * How much more often than first turns that calls answer those with hidden tools only name the goal: of clarification tasks others never
 * do, so that all of them together do as often.
 */
const VAGUE = 2.4

/** All that is asked for is asked for in one turn. */
const AT_ONCE: Shape = { requests: 1, information: 'complete', recovery: null }

/** The right answer to a request is a question or a refusal: needed tools are hidden, or a required value is missing. */
export const makeClarification: Maker = (setting) => MAKERS[setting.assignment.missing ?? 'tools'](setting)

const namesOf = (chain: Chain): string[] => homeOf(chain).map(({ name }) => name)

/** Every tool that the requests need is hidden, and nothing on offer does instead. */
const makeHidden: Maker = (base) => {
  const { assignment, environmentSeed, context, random } = base
  const { profile, speech, graph } = context
  const drawn = context.drawPersona(random)
  const around = toolAround(assignment, context, random)
  const persona = context.inEnvironments(drawn, [around.environment.name])
  const setting = { ...base, moment: momentOf(base, persona) }
  const { moment } = setting
  const vague = random.chance(VAGUE * profile.information.minimal)
  const first = askUnanswered({ around, turn: 0, vague }, setting)
  if (typeof first === 'string') return first
  const home = homeOf(first.taken.chain)
  const nearby = graph.nodes.filter(({ environment }) => home.includes(environment))
  // Who has been told that it cannot be done says what is wanted next.
  const wanted = continueUnanswered(first, setting, (turn, earlier) =>
    askUnanswered({ around: random.pick(nearby), turn, earlier: earlier.map(({ taken }) => taken) }, setting),
  )
  if (typeof wanted === 'string') return wanted
  const { requests, turns } = wanted
  const hidden = new Set(
    requests.flatMap(({ taken, script: { steps } }) => [
      ...similarTools(taken.chain, context.environments),
      ...rivals(steps, new Set(steps.keys())),
    ]),
  )
  const toolset = chooseToolset({ home, needed: [], hidden, distractors: true }, context.environments, profile, random)
  if (isTooSmall(toolset, home, profile)) return 'few_tools'
  const offered = nodesIn(toolset, context.catalogue)
  const areSolvable = requests.some(({ taken: { steps, open } }) =>
    steps.some((_, i) => isSolvable(steps, i, offered, open, random)),
  )
  if (areSolvable) return 'solvable'
  const exchanges = turns.map(({ user, request }, turn) => ({
    user,
    calls: [],
    assistant: request ? speech.decline({ ...moment, turn }, request.ask) : speech.declineOnceMore({ ...moment, turn }),
  }))
  const users = turns.map(({ user }) => user)
  const task = buildTask(
    { kind: 'clarification', toolset, turns: users, groundTruth: [], chain: chainName(first.taken.chain) },
    { environmentSeed, persona, profile, random },
  )
  const silent: Worded = { exchanges, origins: [], turnOf: [] }
  return assemble(assignment, task, { information: first.script.information, recovery: null }, persona, silent, context)
}

/** The last tool that the request needs is hidden: what comes before it is done and counts, and the rest is declined. */
const makePartlyHidden: Maker = (base) => {
  const { context, random } = base
  const { profile, speech, catalogue } = context
  const taken = takeSteps({ ...partsWanted(base), shape: AT_ONCE }, base)
  if (typeof taken === 'string') return taken
  if (taken.reversals.length > 0) return 'undone'
  const { chain, open } = taken
  const last = lastOf(chain)
  const persona = context.inEnvironments(context.drawPersona(random), namesOf(chain))
  const moment = momentOf(base, persona)
  const whole = askForAll(taken.steps, random, { understood: true })
  if (!whole) return 'no_script'
  const asked = putIntoWords(whole, speech, moment)
  if (!asked) return 'no_words'
  if (!isUnderstood(whole, asked, context)) return 'reference'
  const steps = whole.steps.slice(0, -1)
  const request = {
    home: homeOf(chain),
    needed: chain.slice(0, -1),
    hidden: new Set(similarTools([last], context.environments)),
    distractors: true,
  }
  const toolset = chooseToolset(request, context.environments, profile, random)
  if (isTooSmall(toolset, homeOf(chain), profile)) return 'few_tools'
  const offered = nodesIn(toolset, catalogue)
  // Calls that are on offer and asked for are made first; what they tell of the rest is no way around it.
  if (isStatedBefore(taken.steps, taken.steps.length - 1)) return 'solvable'
  if (isSolvable(taken.steps, taken.steps.length - 1, offered, open, random)) return 'solvable'
  const done = steps.map((step, i) => ({ ask: askOf(whole.steps, i, whole), output: step.output }))
  // Nobody looks things up on the way to something that cannot be done.
  if (done.some(({ ask }) => ask.silent)) return 'no_script'
  const undone = askOf(whole.steps, steps.length, whole)
  const assistant = `${speech.report(done, { ...moment, turn: 0, goesOn: true })} ${speech.declineRest({ ...moment, turn: 0 }, undone)}`
  const worded: Worded = {
    exchanges: [{ user: itemAt(asked.exchanges, 0).user, calls: steps.map(callOf), assistant }],
    origins: asked.origins.slice(0, -1),
    turnOf: steps.map(() => 0),
  }
  const script: Script = {
    ...whole,
    steps,
    turns: [{ says: 'request', asks: [...steps.keys()], steps: [...steps.keys()] }],
  }
  return inPart({ script, worded, toolset }, taken, { ...base, moment })
}

const partsWanted = ({ assignment, context, random }: Setting): Wanted => ({
  around: toolAround(assignment, context, random),
  length: assignment.calls,
  anyLength: true,
  anywhere: true,
})

/** The last tool that the request needs is not there at first: what comes before it is done, and the rest when the user has brought it. */
const makeBrought: Maker = (base) => {
  const { context, random } = base
  const { profile, speech, catalogue } = context
  const taken = takeSteps({ ...partsWanted(base), shape: AT_ONCE }, base)
  if (typeof taken === 'string') return taken
  if (taken.reversals.length > 0) return 'undone'
  const { chain, open } = taken
  const persona = context.inEnvironments(context.drawPersona(random), namesOf(chain))
  const moment = momentOf(base, persona)
  // What is done before it is there must have been asked for: nobody looks things up for a call that cannot be made.
  const whole = askForAll(taken.steps, random, { aloud: true })
  if (!whole) return 'no_script'
  const asked = putIntoWords(whole, speech, moment)
  if (!asked) return 'no_words'
  const { steps } = whole
  const last = steps.length - 1
  const request = { home: homeOf(chain), needed: chain, hidden: new Set<string>(), distractors: true }
  const isLast = ({ environment, tool }: Task['toolset'][number]): boolean =>
    environment === lastOf(chain).environment.name && tool === lastOf(chain).tool.name
  const toolset = chooseToolset(request, context.environments, profile, random).map((offer) =>
    isLast(offer) ? { ...offer, from: 1 } : offer,
  )
  const offered = nodesIn(offeredAt(toolset, 0), catalogue)
  if (isStatedBefore(taken.steps, last) || isSolvable(taken.steps, last, offered, open, random)) return 'solvable'
  const reportOn = (turn: number, indices: readonly number[]): string =>
    speech.report(
      indices.map((i) => ({ ask: askOf(steps, i, whole), output: itemAt(steps, i).output })),
      { ...moment, turn, goesOn: turn === 0 },
    )
  const before = [...steps.keys()].slice(0, -1)
  const undone = askOf(steps, last, whole)
  const declined =
    before.length === 0
      ? speech.decline({ ...moment, turn: 0 }, undone)
      : `${reportOn(0, before)} ${speech.declineRest({ ...moment, turn: 0 }, undone)}`
  const worded: Worded = {
    exchanges: [
      {
        user: itemAt(asked.exchanges, 0).user,
        calls: before.map((i) => callOf(itemAt(steps, i), i)),
        assistant: declined,
      },
      {
        user: speech.bring({ ...moment, turn: 1 }),
        calls: [callOf(itemAt(steps, last), last)],
        assistant: reportOn(1, [last]),
      },
    ],
    origins: asked.origins,
    turnOf: steps.map((_, i) => (i === last ? 1 : 0)),
  }
  const script: Script = {
    ...whole,
    turns: [
      { says: 'request', asks: [...steps.keys()], steps: before },
      { says: 'request', asks: [], steps: [last] },
    ],
  }
  return inPart({ script, worded, toolset }, taken, { ...base, moment })
}

interface DoneInPart {
  readonly script: Script
  readonly worded: Worded
  readonly toolset: Task['toolset']
  /** Where a value is missing: the one that asks for it. */
  readonly questions?: UnansweredRequest['questions']
}

/** A conversation of which the steps are what can be done, unless a filter objects. */
function inPart(
  { script, worded, toolset, questions }: DoneInPart,
  { chain, open }: ExecutedChain,
  { assignment, environmentSeed, context, moment: { persona, random } }: UnansweredSetting,
): Example | ObjectionName {
  const { profile, catalogue, denotes } = context
  const { steps } = script
  const task = buildTask(
    {
      kind: 'clarification',
      toolset,
      turns: worded.exchanges.map(({ user }) => user),
      groundTruth: groundTruthOf(steps, worded),
      ...toTell(steps, script, worded),
      ...(questions ? { questions } : {}),
      chain: chainName(chain),
    },
    { environmentSeed, persona, profile, random },
  )
  const information = questions ? 'missing' : 'complete'
  const example = assemble(assignment, task, { information, recovery: null }, persona, worded, context)
  return firstObjection(OF_CONVERSATIONS, { example, steps, script, open, catalogue, denotes, today: TODAY }) ?? example
}

/** A value is left out that no tool can find, and that the user does not know either: what is asked for until then is done. */
const makeMissingValue: Maker = (base) => {
  const { assignment, environmentSeed, context, random } = base
  const { profile, graph } = context
  const drawn = context.drawPersona(random)
  const able = graph.nodes.filter((node) => fieldsToLeaveOut(node).length > 0)
  if (able.length === 0) return 'no_script'
  const own = toolAround(assignment, context, random)
  const around = able.includes(own) ? own : random.pick(able)
  const persona = context.inEnvironments(drawn, [around.environment.name])
  const moment = momentOf(base, persona)
  const setting = { ...base, moment }
  // One thing alone: another one could be done without the value, and would have to be.
  const first = askUnanswered({ around, turn: 0, length: 1, withhold: (steps) => withheldIn(steps, random) }, setting)
  if (typeof first === 'string') return first
  const unanswered = { user: first.user, calls: [], assistant: first.question }
  const others = assignment.requests - 1
  if (others > 0) {
    const until = triedOften(() => askUntilKnown(first, others, setting), TRIES_UNTIL_KNOWN)
    if (typeof until === 'string') return until
    const { taken, script } = until
    const needed = uniqueNodes([...first.taken.chain, ...taken.chain])
    if (!needed) return 'one_name'
    const hidden = rivals(script.steps, script.silent)
    const toolset = chooseToolset(
      { home: homeOf(taken.chain), needed, hidden, distractors: true },
      context.environments,
      profile,
      random,
    )
    const worded = precededBy(unanswered, until.worded)
    return inPart({ script, worded, toolset, questions: first.questions }, taken, setting)
  }
  const { chain } = first.taken
  const request = { home: homeOf(chain), needed: chain, hidden: new Set<string>(), distractors: true }
  const task = buildTask(
    {
      kind: 'clarification',
      toolset: chooseToolset(request, context.environments, profile, random),
      turns: [first.user],
      groundTruth: [],
      questions: first.questions,
      chain: chainName(chain),
    },
    { environmentSeed, persona, profile, random },
  )
  const silent: Worded = { exchanges: [unanswered], origins: [], turnOf: [] }
  return assemble(assignment, task, { information: 'missing', recovery: null }, persona, silent, context)
}

/** Draws for what is done after a question, before the whole candidate is given up: with fewer of them most would be of the environments that make it easy. */
const TRIES_UNTIL_KNOWN = 16

/** What somebody asks for who cannot say yet what was asked: other things in the same environment, in so many turns. */
function askUntilKnown(
  { taken: { chain: asked } }: UnansweredRequest,
  requests: number,
  setting: UnansweredSetting,
): { readonly taken: ExecutedChain; readonly script: Script; readonly worded: Worded } | ObjectionName {
  const { context, moment, random } = setting
  const { profile, graph, speech } = context
  const home = homeOf(asked)
  const nearby = graph.nodes.filter((node) => home.includes(node.environment) && !asked.includes(node))
  if (nearby.length === 0) return 'no_chain'
  const shape: Shape = { requests, information: 'complete', recovery: null }
  const length = requests - 1 + random.pick(NUMBERS_ASKED)
  const wanted = {
    around: random.pick(nearby),
    length,
    anyLength: true,
    shape,
    fits: (chain: Chain) => !chain.some((node) => asked.includes(node)),
  }
  const taken = takeSteps(wanted, setting)
  if (typeof taken === 'string') return taken
  const script = scriptConversation(taken, shape, profile, random)
  if (!script) return 'no_script'
  const worded = putIntoWords(script, speech, { ...moment, after: 'unanswered' }, 1)
  return worded ? { taken, script, worded } : 'no_words'
}

/** Each tool once; `null` when two environments name theirs alike, for a toolset has no name twice. */
export function uniqueNodes(nodes: readonly Node[]): Node[] | null {
  const byId = new Map(nodes.map((node) => [nodeName(node), node]))
  return new Set([...byId.values()].map(({ tool }) => tool.name)).size === byId.size ? [...byId.values()] : null
}

/** A value that the first call cannot do without, and that is said nowhere else. */
function withheldIn(steps: readonly Step[], random: SeededRandom): Withheld | undefined {
  const { tool, args } = itemAt(steps, 0)
  const isTakenUp = steps.some(({ bindings }) => bindings.some(({ source }) => source === 0))
  const fields = Object.entries(tool.input.shape).filter(([field, schema]) => {
    const value = args[field]
    if (isOptional(schema) || (typeof value !== 'string' && typeof value !== 'number')) return false
    const given = Object.keys(args)
    if (isWhole(tool, given, field) || !canLeaveOut(itemAt(steps, 0), given, field)) return false
    const { entity } = meaningOf(schema)
    // Nobody goes on about a thing before having said which it is.
    if (steps.length > 1 && (entity !== undefined || isTakenUp)) return false
    return steps.every((other, i) => i === 0 || !Object.values(other.args).includes(value))
  })
  return fields.length === 0 ? undefined : { step: 0, field: random.pick(fields)[0] }
}

const MAKERS: Readonly<Record<Missing, Maker>> = {
  value: makeMissingValue,
  tools: makeHidden,
  'last-tool': makePartlyHidden,
  'brought-tool': makeBrought,
}
