import type { SeededRandom } from '../../servers/kernel/index.js'
import { nodeName } from '../../servers/kernel/tool-graph.js'
import { askForAll, isUnderstood } from './ask-for-all.js'
import { assemble, buildTask } from './assemble.js'
import type { Script } from './conversation-script.js'
import { chooseToolset, rivals } from './draw-toolset.js'
import { chainName } from './split.js'
import { type Maker, TODAY } from './synthesis-context.js'
import { coreAround, homeOf, shapeRandom, takeSteps } from './take-steps.js'
import type { Step } from './walk.js'
import { putIntoWords, type Worded } from './word-conversation.js'

/** The right answer is a question or a refusal: the needed tools are hidden, or a required value is missing. */
export const makeClarification: Maker = (assignment, worldSeed, context, random) => {
  const { profile, speech } = context
  const hides = shapeRandom(assignment, context).chance(profile.missingFunction)
  const taken = takeSteps(
    assignment,
    coreAround(assignment, context, random),
    random.int(1, 3),
    worldSeed,
    context,
    random,
  )
  if (typeof taken === 'string') return taken
  if (taken.undoings.length > 0) return 'undone'
  const { chain } = taken
  const persona = context.drawPersona(random)
  const script = hides ? askForAll(taken.steps, random) : withholding(taken.steps, random)
  if (!script) return 'no_script'
  const { steps } = script
  const worded = putIntoWords(script, speech, { persona, today: TODAY, dated: profile.context, random })
  if (!worded) return 'no_words'
  if (!isUnderstood(script, worded, context)) return 'reference'
  const hidden = new Set(hides ? [...chain.map(nodeName), ...rivals(steps, new Set(steps.keys()))] : [])
  const toolset = chooseToolset(
    { home: homeOf(chain), needed: hides ? [] : chain, hidden, distractors: true },
    context.servers,
    profile,
    random,
  )
  if (toolset.length === 0) return 'no_walk'
  const moment = { persona, today: TODAY, dated: profile.context, turn: 0, random }
  const [opening] = worded.exchanges
  const exchange = { user: opening!.user, calls: [], assistant: hides ? speech.decline(moment) : opening!.assistant }
  const task = buildTask(
    { kind: 'clarification', toolset, turns: [exchange.user], groundTruth: [], chain: chainName(chain) },
    { worldSeed, persona, profile, random },
  )
  const silent: Worded = { exchanges: [exchange], origins: [], turnOf: [] }
  return assemble(
    assignment,
    task,
    { ...script, information: hides ? 'complete' : 'missing' },
    persona,
    silent,
    context,
  )
}

/** Leaves out a value that the first call cannot do without. */
function withholding(steps: readonly Step[], random: SeededRandom): Script | null {
  const { tool, args } = steps[0]!
  const fields = Object.entries(tool.input.shape).filter(([field, schema]) => {
    const value = args[field]
    if (schema.isOptional() || (typeof value !== 'string' && typeof value !== 'number')) return false
    return steps.every((other, i) => i === 0 || !Object.values(other.args).includes(value))
  })
  return fields.length === 0 ? null : askForAll(steps, random, { step: 0, field: random.pick(fields)[0] })
}
