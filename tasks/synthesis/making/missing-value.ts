import { isOptional, meaningOf, type SeededRandom } from '../../../servers/kernel/index.js'
import { type Node, nodeName } from '../graph.js'
import { itemAt } from '../item-at.js'
import { canLeaveOut } from '../wording/request-clause.js'
import { inPart, withoutCalls } from './clarification-task.js'
import { type Script, scriptConversation, type Withheld } from './conversation-script.js'
import { fieldsToLeaveOut, isWhole, type Shape } from './conversation-shape.js'
import type { ObjectionName } from './objections.js'
import type { Chain } from './split.js'
import type { ExecutedChain, Step } from './step.js'
import { type Maker, momentOf } from './synthesis-context.js'
import { homeOf, takeSteps, toolAround } from './take-steps.js'
import { chooseToolset, rivals } from './toolset.js'
import {
  askUnanswered,
  NUMBERS_ASKED,
  triedOften,
  type UnansweredRequest,
  type UnansweredSetting,
} from './unanswered-request.js'
import { precededBy, putIntoWords, type Worded } from './word-conversation.js'

/** A value is left out that no tool can find and the user does not know either. The assistant does the requests until then. */
export const makeMissingValue: Maker = (base) => {
  const { assignment, context, random } = base
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
  const wanted = { home: homeOf(chain), needed: chain, hidden: new Set<string>(), distractors: true }
  const toolset = chooseToolset(wanted, context.environments, profile, random)
  return withoutCalls(first, toolset, [unanswered], setting)
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
