import type { ServerDefinition } from '../../servers/kernel/index.js'
import { nodeName } from '../../servers/kernel/tool-graph.js'
import { askForAll, isUnderstood, NUMBERS_ASKED } from './ask-for-all.js'
import { assemble, buildTask } from './assemble.js'
import { chooseToolset } from './draw-toolset.js'
import { type Chain, chainName, splitOf } from './split.js'
import { type Maker, TODAY } from './synthesis-context.js'
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
    const { topic, text } = context.smallTalk(random)
    user = text
    name = `small-talk:${topic}`
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

/** Of the users who are told that there is no tool, those who insist. */
const INSISTS = 0.35

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
