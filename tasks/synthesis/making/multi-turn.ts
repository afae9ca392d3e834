import type { Example } from '../../dataset/example.js'
import { assemble, buildTask } from './assemble.js'
import { type Script, scriptConversation } from './conversation-script.js'
import { canFailIn } from './conversation-shape.js'
import { drawRuled, hasRuleFor, isUnderstoodUndone, roleOf, withRule } from './domain-rules.js'
import { failingVariant } from './failed-call.js'
import { groundTruthOf, toTell } from './ground-truth.js'
import { firstObjection, OF_CONVERSATIONS } from './objections.js'
import { questionsDue } from './required-questions.js'
import { type Chain, chainName } from './split.js'
import type { StateIndex } from './state-index.js'
import type { Open, Parts, Step } from './step.js'
import { type Maker, momentOf } from './synthesis-context.js'
import { homeOf, takeSteps } from './take-steps.js'
import { TODAY } from './today.js'
import { chooseToolset, rivals } from './toolset.js'
import { putIntoWords } from './word-conversation.js'

/** A conversation that a chain of calls answers, over one or more user turns. */
export const makeMultiTurn: Maker = (setting) => {
  const { assignment, environmentSeed, context, random } = setting
  const { profile, speech, catalogue, denotes } = context
  const { rules, calls, crossing } = assignment
  const isRuled = rules === 'declined' || rules === 'confirmed'
  const wanted = {
    around: assignment.target,
    length: calls,
    anywhere: true,
    crossing,
    shape: assignment,
    fits: (chain: Chain) => !isRuled || chain.some((node) => hasRuleFor(node, rules)),
    inState: (chain: Chain, parts: Parts, state: StateIndex) => canFailIn(assignment, chain, parts, state),
    isEnough: (steps: readonly Step[], partings: readonly Parts[], open: Open) =>
      assignment.recovery !== 'corrected' ||
      partings.some((parts) =>
        parts.some((part) => failingVariant({ steps, open, random }, part.at(-1) ?? 0) !== null),
      ),
  }
  const taken = takeSteps(wanted, setting)
  if (typeof taken === 'string') return taken
  const { chain, open } = taken
  const ruled = isRuled ? drawRuled(taken, rules, random) : undefined
  if (ruled === null) return 'no_rule'
  const plan = scriptIn(SCRIPTS_PER_WALK, () => {
    const plain = scriptConversation(taken, assignment, profile, random)
    return plain && (ruled ? withRule(plain, ruled) : { whole: plain, made: plain.steps.length, turn: 0 })
  })
  if (!plan) return 'no_script'
  const { whole, made } = plan
  const persona = context.inEnvironments(
    context.drawPersona(random),
    homeOf(chain).map(({ name }) => name),
  )
  const said = putIntoWords(whole, speech, momentOf(setting, persona))
  if (said && ruled && !isUnderstoodUndone(plan, said, context)) return 'reference'
  const steps = whole.steps.slice(0, made)
  const script: Script = { ...whole, steps }
  const worded = said && { ...said, origins: said.origins.slice(0, made) }
  const questions = worded && questionsDue(whole, worded)
  if (!worded) return 'no_words'
  if (!questions) return 'no_question'
  const toolset = chooseToolset(
    { home: homeOf(chain), needed: chain, hidden: rivals(whole.steps, script.silent), distractors: true },
    context.environments,
    profile,
    random,
  )
  const task = buildTask(
    {
      kind: 'multi-turn',
      toolset,
      turns: worded.exchanges.map(({ user }) => user),
      groundTruth: groundTruthOf(steps, worded),
      ...toTell(steps, script, worded),
      ...questions,
      chain: chainName(chain),
    },
    { environmentSeed, persona, profile, random },
  )
  const example: Example = {
    ...assemble(assignment, task, script, persona, worded, context),
    ...(ruled ? { domainRules: roleOf(ruled, plan) } : {}),
  }
  return firstObjection(OF_CONVERSATIONS, { example, steps, script, open, catalogue, denotes, today: TODAY }) ?? example
}

/** Walks cost more than scripts: one that was found is given several chances. */
const SCRIPTS_PER_WALK = 10

function scriptIn<T>(tries: number, draw: () => T | null): T | null {
  for (let left = tries; left > 0; left--) {
    const script = draw()
    if (script) return script
  }
  return null
}
