import type { SeededRandom, ServerDefinition } from '../../servers/kernel/index.js'
import { nodeName } from '../../servers/kernel/tool-graph.js'
import type { SmallTalk } from '../wording/small-talk.js'
import { askForAll, isUnderstood, NUMBERS_ASKED } from './ask-for-all.js'
import { assemble, buildTask } from './assemble.js'
import { chooseToolset } from './draw-toolset.js'
import { type Chain, chainName, splitOf } from './split.js'
import { type Maker, type SynthesisContext, TODAY } from './synthesis-context.js'
import { coreAround, homeOf, takeSteps } from './take-steps.js'
import { putIntoWords } from './word-conversation.js'

/** Nothing on offer can serve the request: it belongs to another world, or to none. */
export const makeAbstention: Maker = (assignment, worldSeed, context, random) => {
  const { profile, speech, servers } = context
  const isPlain = profile.speech === 'plain'
  const persona = context.drawPersona(random)
  const moment = { persona, today: TODAY, dated: profile.context, random }
  let user: string
  let name: string
  let home: readonly ServerDefinition[] = random.sample(servers, random.int(1, 2))
  const hidden = new Set<string>()
  if (random.chance(SMALL_TALK) || servers.length === 1) {
    const first = context.smallTalk(random)
    user = isPlain ? first.text : withSecond(first, context, random)
    name = `small-talk:${first.topic}`
    if (splitOf(name) !== assignment.split) return 'other_split'
  } else {
    const taken = takeSteps(
      assignment,
      coreAround(assignment, context, random),
      isPlain ? random.int(1, 2) : random.pick(NUMBERS_ASKED),
      worldSeed,
      context,
      random,
    )
    if (typeof taken === 'string') return taken
    if (taken.undoings.length > 0) return 'undone'
    const { chain, steps } = taken
    const script = askForAll(steps, random, { vague: !isPlain && random.chance(profile.information.minimal) })
    if (!script) return 'no_script'
    const worded = putIntoWords(script, speech, moment)
    if (!worded) return 'no_words'
    if (script.information !== 'minimal' && !isUnderstood(script, worded, context)) return 'reference'
    user = worded.exchanges[0]!.user
    name = chainName(chain)
    const away = servers.filter((server) => !homeOf(chain).includes(server))
    home = random.sample(away, random.int(1, Math.min(2, away.length)))
    for (const similar of alike(chain, home)) hidden.add(similar)
  }
  const toolset = chooseToolset({ home, needed: [], hidden, distractors: false }, servers, profile, random)
  if (toolset.length === 0) return 'no_walk'
  const users = [user, ...(!isPlain && random.chance(INSISTS) ? [speech.insist({ ...moment, turn: 1 })] : [])]
  const task = buildTask(
    { kind: 'abstention', toolset, turns: users, groundTruth: [], chain: name },
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

/** Of the small talk, what asks for two things at once. */
const TWO_TOPICS = 0.1
/** Letters at its beginning by which a request is told to be of the same form as another. */
const ALIKE = 10
/** Of the users who are told that there is no tool, those who insist. */
const INSISTS = 0.35

/** Of the abstention tasks, those whose request belongs to no world at all. */
const SMALL_TALK = 0.35

/** Two things asked for at once, in a share of the turns: one alone is shorter than what tools are asked for. */
function withSecond({ topic, text }: SmallTalk, { smallTalk }: SynthesisContext, random: SeededRandom): string {
  if (!random.chance(TWO_TOPICS)) return text
  const second = smallTalk(random, topic)
  const isEnded = /(thanks|thank you|in advance|please|urgent|on the go)[.!]?$/i.test(text)
  if (isEnded || text.toLowerCase().includes(second.text.toLowerCase().slice(0, ALIKE))) return text
  const isTyped = /^[a-z]/.test(text)
  return `${text}${/[.?!]$/.test(text) ? '' : '.'} ${isTyped ? second.text.toLowerCase() : second.text}`
}

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
