import type { DropReason } from '../../dataset/example.js'
import type { Split } from '../../dataset/profile.js'
import { drawOutsideTopic, nextOutsideTopic, outsideRequest } from '../wording/outside-requests.js'
import type { OutsideRequest, OutsideTopic } from '../wording/outside-topics.js'
import type { Ask } from '../wording/speech.js'
import { alike } from './alike.js'
import { NUMBERS_ASKED } from './ask-for-all.js'
import { askInVain, goOnInVain, type VainSetting, type VainWish } from './ask-in-vain.js'
import { assemble, buildTask } from './assemble.js'
import { chooseToolset, isTooSmall } from './draw-toolset.js'
import { type Chain, chainName, splitOf } from './split.js'
import { type Maker, momentOf } from './synthesis-context.js'
import { coreAround, homeOf } from './take-steps.js'

/** Nothing on offer can serve the requests: they belong to other environments, or to none. */
export const makeAbstention: Maker = (assignment, environmentSeed, context, random) => {
  const { profile, speech, environments } = context
  const isPlain = profile.speech === 'plain'
  const drawn = context.drawPersona(random)
  const isOutside = random.chance(isPlain ? SMALL_TALK : OUTSIDE) || environments.length === 1
  const own = isOutside ? undefined : coreAround(assignment, context, random)
  const topic =
    isOutside && !isPlain ? drawOutsideTopic(new Set(environments.map(({ name }) => name)), random) : undefined
  const about = topic?.environment === undefined ? homeOf(own ?? []).map(({ name }) => name) : [topic.environment]
  const persona = context.inEnvironments(drawn, about)
  const moment = momentOf(assignment, context, persona, random)
  const setting = { assignment, environmentSeed, context, moment }
  const askAgain = (turn: number, earlier: readonly Foreign[]): Foreign | DropReason | 'other_split' => {
    if (topic) {
      const isOpen = ({ name }: OutsideTopic): boolean => splitOf(smallTalkName(name)) === assignment.split
      const topics = earlier.map((before) => before.topic ?? topic)
      return askOutside(nextOutsideTopic(topics, isOpen, random), turn, earlier, setting)
    }
    // Of the environments that were asked about already: people stay with their subject, and there are others left to offer tools of.
    const asked = earlier.flatMap(({ chain }) => homeOf(chain))
    const near = context.graph.nodes.filter(({ environment }) => asked.includes(environment))
    return askElsewhere([random.pick(near)], { turn, length: random.pick(NUMBERS_ASKED), earlier }, setting)
  }
  const first = topic
    ? askOutside(topic, 0, [], setting)
    : own
      ? askElsewhere(own, { turn: 0, length: isPlain ? random.int(1, 2) : random.pick(NUMBERS_ASKED) }, setting)
      : askNobody(setting)
  if (typeof first === 'string') return first
  const wanted = goOnInVain(first, setting, askAgain, own !== undefined)
  if (typeof wanted === 'string') return wanted
  const { requests, turns } = wanted
  const away = environments.filter((environment) => !requests.some(({ chain }) => homeOf(chain).includes(environment)))
  const nearest = away.filter(({ name }) => name === topic?.environment)
  if (away.length === 0) return 'no_walk'
  const home = nearest.length > 0 ? nearest : random.sample(away, random.int(1, Math.min(2, away.length)))
  const hidden = new Set(requests.flatMap(({ chain }) => alike(chain, home)))
  const toolset = chooseToolset({ home, needed: [], hidden, distractors: false }, environments, profile, random)
  if (isTooSmall(toolset, home, profile)) return 'no_walk'
  const task = buildTask(
    { kind: 'abstention', toolset, turns: turns.map(({ user }) => user), groundTruth: [], chain: first.name },
    { environmentSeed, persona, profile, random },
  )
  const exchanges = turns.map(({ user, request }, turn) => ({
    user,
    calls: [],
    assistant: request ? speech.decline({ ...moment, turn }, request.ask) : speech.declineOnceMore({ ...moment, turn }),
  }))
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

function askNobody({ assignment: { split }, context, moment: { random } }: VainSetting): Foreign | 'other_split' {
  const { topic, text } = context.smallTalk(random)
  return ofNobody(topic, text, split)
}

const smallTalkName = (topic: string): string => `small-talk:${topic}`

function ofNobody(topic: string, user: string, split: Split): Foreign | 'other_split' {
  const name = smallTalkName(topic)
  return splitOf(name) === split ? { user, name, chain: [] } : 'other_split'
}

function askOutside(
  topic: OutsideTopic,
  turn: number,
  earlier: readonly Foreign[],
  { assignment: { split }, moment }: VainSetting,
): Foreign | DropReason | 'other_split' {
  const before = new Set(earlier.flatMap(({ request }) => (request === undefined ? [] : [request])))
  const said = outsideRequest(topic, before, { ...moment, turn })
  if (!said) return 'no_words'
  const made = ofNobody(topic.name, said.text, split)
  return typeof made === 'string' ? made : { ...made, request: said.request, topic }
}

function askElsewhere(core: Chain, wish: VainWish, setting: VainSetting): Foreign | DropReason {
  const { context, moment } = setting
  // Who has been told that it cannot be done says what is wanted next.
  const vague =
    wish.turn === 0 && context.profile.speech !== 'plain' && moment.random.chance(context.profile.information.minimal)
  const made = askInVain(core, { ...wish, vague }, setting)
  if (typeof made === 'string') return made
  const { chain } = made.taken
  return { user: made.user, name: chainName(chain), chain, ...(made.ask ? { ask: made.ask } : {}) }
}

/** Of the abstention tasks, those whose request belongs to no environment at all: of small talk, and of what is near to an environment. */
const SMALL_TALK = 0.35
const OUTSIDE = 0.5
