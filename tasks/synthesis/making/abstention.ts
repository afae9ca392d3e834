import type { Node } from '../graph.js'
import {
  drawOutsideTopic,
  nextOutsideTopic,
  type OutsideRequest,
  type OutsideTopic,
  outsideRequest,
} from '../wording/outside-requests.js'
import type { Ask } from '../wording/speech.js'
import { assemble, buildTask } from './assemble.js'
import type { ObjectionName } from './objections.js'
import { type Chain, chainName, splitOf } from './split.js'
import { type Maker, momentOf } from './synthesis-context.js'
import { homeOf, toolAround } from './take-steps.js'
import { chooseToolset, isTooSmall, similarTools } from './toolset.js'
import {
  askUnanswered,
  continueUnanswered,
  declinedIn,
  NUMBERS_ASKED,
  type UnansweredSetting,
  type UnansweredWish,
} from './unanswered-request.js'

/** Nothing on offer can serve the requests: they belong to other environments, or to none. */
export const makeAbstention: Maker = (base) => {
  const { assignment, environmentSeed, context, random } = base
  const { profile, environments } = context
  const drawn = context.drawPersona(random)
  const isOutside = assignment.outside || environments.length === 1
  const own = toolAround(assignment, context, random)
  const topic = isOutside ? drawOutsideTopic(new Set(environments.map(({ name }) => name)), random) : undefined
  const about = topic ? (topic.environment === undefined ? [] : [topic.environment]) : [own.environment.name]
  const persona = context.inEnvironments(drawn, about)
  const moment = momentOf(base, persona)
  const setting = { ...base, moment }
  const ask = (around: Node, turn: number, earlier: readonly Foreign[]): Foreign | ObjectionName =>
    askElsewhere({ around, turn, length: random.pick(NUMBERS_ASKED), earlier }, setting)
  const askAgain = (turn: number, earlier: readonly Foreign[]): Foreign | ObjectionName => {
    if (topic) {
      const isOpen = ({ name }: OutsideTopic): boolean => splitOf(topicName(name)) === assignment.split
      const topics = earlier.map((before) => before.topic ?? topic)
      return askOutside(nextOutsideTopic(topics, isOpen, random), turn, earlier, setting)
    }
    // Of the environments that were asked about already: people stay with their subject, and there are others left to offer tools of.
    const asked = earlier.flatMap(({ chain }) => homeOf(chain))
    return ask(random.pick(context.graph.nodes.filter(({ environment }) => asked.includes(environment))), turn, earlier)
  }
  const first = topic ? askOutside(topic, 0, [], setting) : ask(own, 0, [])
  if (typeof first === 'string') return first
  const wanted = continueUnanswered(first, setting, askAgain, !isOutside)
  if (typeof wanted === 'string') return wanted
  const { requests, turns } = wanted
  const away = environments.filter((environment) => !requests.some(({ chain }) => homeOf(chain).includes(environment)))
  const nearest = away.filter(({ name }) => name === topic?.environment)
  if (away.length === 0) return 'few_tools'
  const home = nearest.length > 0 ? nearest : random.sample(away, random.int(1, Math.min(2, away.length)))
  const hidden = new Set(requests.flatMap(({ chain }) => similarTools(chain, home)))
  const toolset = chooseToolset({ home, needed: [], hidden, distractors: false }, environments, profile, random)
  if (isTooSmall(toolset, home, profile)) return 'few_tools'
  const task = buildTask(
    { kind: 'abstention', toolset, turns: turns.map(({ user }) => user), groundTruth: [], chain: first.name },
    { environmentSeed, persona, profile, random },
  )
  const exchanges = declinedIn(turns, setting)
  const course = { information: 'complete', recovery: null } as const
  return assemble(assignment, task, course, persona, { exchanges, origins: [], turnOf: [] }, context)
}

/** A request that belongs elsewhere, with the tools that would serve it. */
interface Foreign {
  readonly user: string
  readonly name: string
  readonly chain: Chain
  /** What it asks for, when that is one thing. */
  readonly ask?: Ask
  /** What it asks for and about, where no tool of any environment serves it. */
  readonly request?: OutsideRequest
  readonly topic?: OutsideTopic
}

const topicName = (topic: string): string => `small-talk:${topic}`

function askOutside(
  topic: OutsideTopic,
  turn: number,
  earlier: readonly Foreign[],
  { assignment: { split }, moment }: UnansweredSetting,
): Foreign | ObjectionName {
  const before = new Set(earlier.flatMap(({ request }) => (request === undefined ? [] : [request])))
  const said = outsideRequest(topic, before, { ...moment, turn })
  if (!said) return 'no_words'
  const name = topicName(topic.name)
  return splitOf(name) === split ? { user: said.text, name, chain: [], request: said.request, topic } : 'no_chain'
}

function askElsewhere(wish: UnansweredWish, setting: UnansweredSetting): Foreign | ObjectionName {
  // Who has been told that it cannot be done says what is wanted next.
  const vague = wish.turn === 0 && setting.random.chance(setting.context.profile.information.minimal)
  const made = askUnanswered({ ...wish, vague }, setting)
  if (typeof made === 'string') return made
  const { chain } = made.taken
  return { user: made.user, name: chainName(chain), chain, ...(made.ask ? { ask: made.ask } : {}) }
}
