import { offeredAt, type Task } from '../../../rollout/episode/index.js'
import { itemAt, lastOf } from '../item-at.js'
import { inPart, withoutCalls } from './clarification-task.js'
import type { Script } from './conversation-script.js'
import type { Shape } from './conversation-shape.js'
import { makeMissingValue } from './missing-value.js'
import type { ObjectionName } from './objections.js'
import type { Missing } from './plan.js'
import { isSolvable, isStatedBefore, nodesIn } from './solvable.js'
import type { ExecutedChain } from './step.js'
import { type Maker, momentOf, type Setting } from './synthesis-context.js'
import { homeOf, takeSteps, toolAround } from './take-steps.js'
import { chooseToolset, isTooSmall, rivals, similarTools } from './toolset.js'
import {
  askForAll,
  askUnanswered,
  continueUnanswered,
  declinedIn,
  isUnderstood,
  type UnansweredSetting,
} from './unanswered-request.js'
import { askOf, callOf, putIntoWords, type Worded } from './word-conversation.js'

/**
 * How much more often than first turns that calls answer those with hidden tools only name the goal: of clarification tasks others never
 * do, so that all of them together do as often.
 */
const VAGUE = 2.4

/** All that is asked for is asked for in one turn. */
const AT_ONCE: Shape = { requests: 1, information: 'complete', recovery: null }

/** The right answer to a request is a question or a refusal: needed tools are hidden, or a required value is missing. */
export const makeClarification: Maker = (setting) => MAKERS[setting.assignment.missing ?? 'tools'](setting)

/** Every tool that the requests need is hidden, and nothing on offer does instead. */
const makeHidden: Maker = (base) => {
  const { assignment, context, random } = base
  const { profile, graph } = context
  const drawn = context.drawPersona(random)
  const around = toolAround(assignment, context, random)
  const persona = context.inEnvironments(drawn, [around.environment.name])
  const setting = { ...base, moment: momentOf(base, persona) }
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
  return withoutCalls(first, toolset, declinedIn(turns, setting), setting)
}

/** A request for all steps of a chain in one turn, in words. */
interface AskedAtOnce {
  readonly taken: ExecutedChain
  readonly whole: Script
  readonly asked: Worded
  readonly moment: UnansweredSetting['moment']
}

function askAtOnce(base: Setting, how: Parameters<typeof askForAll>[2]): AskedAtOnce | ObjectionName {
  const { assignment, context, random } = base
  const wanted = { length: assignment.calls, anyLength: true, anywhere: true, shape: AT_ONCE }
  const taken = takeSteps({ ...wanted, around: toolAround(assignment, context, random) }, base)
  if (typeof taken === 'string') return taken
  if (taken.reversals.length > 0) return 'undone'
  const homes = homeOf(taken.chain).map(({ name }) => name)
  const moment = momentOf(base, context.inEnvironments(context.drawPersona(random), homes))
  const whole = askForAll(taken.steps, random, how)
  if (!whole) return 'no_script'
  const asked = putIntoWords(whole, context.speech, moment)
  return asked ? { taken, whole, asked, moment } : 'no_words'
}

/** The last tool that the request needs is hidden: what comes before it is done and counts, and the rest is declined. */
const makePartlyHidden: Maker = (base) => {
  const { context, random } = base
  const { profile, speech, catalogue } = context
  const request = askAtOnce(base, { understood: true })
  if (typeof request === 'string') return request
  const { taken, whole, asked, moment } = request
  const { chain, open } = taken
  const last = lastOf(chain)
  if (!isUnderstood(whole, asked, context)) return 'reference'
  const steps = whole.steps.slice(0, -1)
  const wanted = {
    home: homeOf(chain),
    needed: chain.slice(0, -1),
    hidden: new Set(similarTools([last], context.environments)),
    distractors: true,
  }
  const toolset = chooseToolset(wanted, context.environments, profile, random)
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

/** The last tool that the request needs is not there at first: what comes before it is done, and the rest when the user has brought it. */
const makeBrought: Maker = (base) => {
  const { context, random } = base
  const { profile, speech, catalogue } = context
  // What is done before it is there must have been asked for: nobody looks things up for a call that cannot be made.
  const request = askAtOnce(base, { aloud: true })
  if (typeof request === 'string') return request
  const { taken, whole, asked, moment } = request
  const { chain, open } = taken
  const { steps } = whole
  const last = steps.length - 1
  const wanted = { home: homeOf(chain), needed: chain, hidden: new Set<string>(), distractors: true }
  const isLast = ({ environment, tool }: Task['toolset'][number]): boolean =>
    environment === lastOf(chain).environment.name && tool === lastOf(chain).tool.name
  const toolset = chooseToolset(wanted, context.environments, profile, random).map((offer) =>
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

const MAKERS: Readonly<Record<Missing, Maker>> = {
  value: makeMissingValue,
  tools: makeHidden,
  'last-tool': makePartlyHidden,
  'brought-tool': makeBrought,
}
