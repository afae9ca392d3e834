import type { DropReason } from '../../dataset/example.js'
import type { ServerDefinition } from '../../servers/kernel/index.js'
import { nodeName } from '../../servers/kernel/tool-graph.js'
import { NUMBERS_ASKED } from './ask-for-all.js'
import { askInVain, goOnInVain, type VainSetting } from './ask-in-vain.js'
import { assemble, buildTask } from './assemble.js'
import { chooseToolset } from './draw-toolset.js'
import { type Chain, chainName, splitOf } from './split.js'
import { type Maker, TODAY } from './synthesis-context.js'
import { coreAround, homeOf } from './take-steps.js'

/** Nothing on offer can serve the requests: they belong to other worlds, or to none. */
export const makeAbstention: Maker = (assignment, worldSeed, context, random) => {
  const { profile, speech, servers } = context
  const isPlain = profile.speech === 'plain'
  const persona = context.drawPersona(random)
  const moment = { persona, today: TODAY, dated: profile.context, random }
  const setting = { assignment, worldSeed, context, moment }
  const askedFor = (turn: number, core: () => Chain): Foreign | DropReason | 'other_split' =>
    random.chance(SMALL_TALK) || servers.length === 1
      ? askNobody(setting)
      : askElsewhere(core(), turn, setting, isPlain ? random.int(1, 2) : random.pick(NUMBERS_ASKED))
  const first = askedFor(0, () => coreAround(assignment, context, random))
  if (typeof first === 'string') return first
  const wanted = goOnInVain(first, setting, (turn, earlier) => {
    // Of the worlds that were asked about already, so that there are others left to offer tools of.
    const asked = earlier.flatMap(({ chain }) => homeOf(chain))
    const near = context.graph.nodes.filter(({ server }) => asked.length === 0 || asked.includes(server))
    return askedFor(turn, () => [random.pick(near)])
  })
  if (typeof wanted === 'string') return wanted
  const { requests, users } = wanted
  const away = servers.filter((server) => !requests.some(({ chain }) => homeOf(chain).includes(server)))
  if (away.length === 0) return 'no_walk'
  const home = random.sample(away, random.int(1, Math.min(2, away.length)))
  const hidden = new Set(requests.flatMap(({ chain }) => alike(chain, home)))
  const toolset = chooseToolset({ home, needed: [], hidden, distractors: false }, servers, profile, random)
  if (toolset.length === 0) return 'no_walk'
  const task = buildTask(
    { kind: 'abstention', toolset, turns: users, groundTruth: [], chain: first.name },
    { worldSeed, persona, profile, random },
  )
  const exchanges = users.map((said, turn) => ({
    user: said,
    calls: [],
    assistant: speech.decline({ ...moment, turn }),
  }))
  const course = { information: 'complete', recovery: null } as const
  return assemble(assignment, task, course, persona, { exchanges, origins: [], turnOf: [] }, context)
}

/** A request that belongs elsewhere, with the tools that would serve it. */
interface Foreign {
  readonly user: string
  readonly name: string
  readonly chain: Chain
}

function askNobody({ assignment: { split }, context, moment: { random } }: VainSetting): Foreign | 'other_split' {
  const { topic, text } = context.smallTalk(random)
  const name = `small-talk:${topic}`
  return splitOf(name) === split ? { user: text, name, chain: [] } : 'other_split'
}

function askElsewhere(core: Chain, turn: number, setting: VainSetting, length: number): Foreign | DropReason {
  const { context, moment } = setting
  const vague = context.profile.speech !== 'plain' && moment.random.chance(context.profile.information.minimal)
  const made = askInVain(core, { turn, length, vague }, setting)
  if (typeof made === 'string') return made
  const { chain } = made.taken
  return { user: made.user, name: chainName(chain), chain }
}

/** Of the abstention tasks, those whose request belongs to no world at all. */
const SMALL_TALK = 0.35

/** Tools of other worlds that might pass for one of the chain: two words of their names agree. */
function alike(chain: Chain, home: readonly ServerDefinition[]): string[] {
  const words = (name: string): string[] => name.split('_').map((word) => word.replace(/s$/, ''))
  const wanted = chain.map(({ tool }) => new Set(words(tool.name)))
  return home.flatMap((server) =>
    server.tools
      .filter(({ name }) => wanted.some((set) => words(name).filter((word) => set.has(word)).length >= 2))
      .map((tool) => nodeName({ server, tool })),
  )
}
