import type { JsonObject } from '../../../rollout/reward/index.js'
import {
  type DomainRule,
  hasRules,
  meaningOf,
  ruleFor,
  type SeededRandom,
  type Session,
} from '../../../servers/kernel/index.js'
import type { DomainRuleRole } from '../../dataset/example.js'
import type { Node } from '../graph.js'
import { itemAt } from '../item-at.js'
import { unresolvedIn } from '../resolving/unresolved.js'
import type { Script, Turn } from './conversation-script.js'
import { ACT, playUpTo, wrongValues } from './failed-call.js'
import type { ExecutedChain, Open, RuledStep, Step } from './step.js'
import type { SynthesisContext } from './synthesis-context.js'
import { callOf, type Worded } from './word-conversation.js'

/** Returns whether a tool has a domain rule that makes conversations of this role; for any other role, any rule. */
export const hasRuleFor = ({ environment, tool }: Node, role: DomainRuleRole['role']): boolean =>
  (environment.domainRules?.rules ?? []).some(
    (rule) =>
      rule.tool === tool.name && (role === 'abiding' || rule.demand === (role === 'declined' ? 'decline' : 'confirm')),
  )

/** A ruled step, and what the user does when it is declined or asked about. */
export interface RuledCase extends RuledStep {
  readonly outcome: Exclude<DomainRuleRole, { role: 'abiding' }>['outcome']
}

/** Of the conversations with a rule, those in which the user names another value that it does not apply to, where there is one. */
const AMENDED = 0.45
/** Of those in which something is declined for good, those in which the user insists. */
const INSISTED = 0.5
/** Of those in which something has to be confirmed, those in which the user takes it back. */
const WITHDRAWN = 0.3

/**
 * A step of a chain that is to be declined or confirmed, and what the user does then. Rules apply to no other step.
 * @returns `null` when the chain has none
 */
export function drawRuled(
  { steps, open }: Pick<ExecutedChain, 'steps' | 'open'>,
  role: 'declined' | 'confirmed',
  random: SeededRandom,
): RuledCase | null {
  const demand = role === 'declined' ? 'decline' : 'confirm'
  const rules = rulesOf(steps, open)
  const ruled = rules.flatMap((rule, step) => (rule ? [{ step, rule }] : []))
  const last = steps.length - 1
  if (ruled.length === 0) {
    if (!random.chance(AMENDED)) return null
    for (const step of random.shuffle([...steps.keys()])) {
      const found = ruledVariant(steps, step, demand, open, random)
      if (found) return { ...found, outcome: 'amended' }
    }
    return null
  }
  const [{ step, rule }] = ruled as [(typeof ruled)[number]]
  if (ruled.length > 1 || rule.demand !== demand) return null
  const found = { step, rule, args: itemAt(steps, step).args }
  if (demand === 'decline')
    return step < last ? null : { ...found, outcome: random.chance(INSISTED) ? 'insisted' : 'dropped' }
  return { ...found, outcome: step === last && last > 0 && random.chance(WITHDRAWN) ? 'withdrawn' : 'agreed' }
}

const ruleAt = (session: Session, { environment, tool }: Step, args: JsonObject): DomainRule | undefined =>
  ruleFor(environment, tool.name, args, { db: session.db, today: session.now().slice(0, 10) })

/** The rule that each step comes under, in the state in which it is taken. */
function rulesOf(steps: readonly Step[], open: Open): (DomainRule | undefined)[] {
  return steps.map((step, i) =>
    hasRules(step.environment, step.tool.name)
      ? ruleAt(playUpTo(steps, i, open)(step.environment), step, step.args)
      : undefined,
  )
}

/** Returns the step with another value of one argument, such that a rule applies and the environment would accept it. */
function ruledVariant(
  steps: readonly Step[],
  index: number,
  demand: DomainRule['demand'],
  open: Open,
  random: SeededRandom,
): RuledStep | null {
  const step = itemAt(steps, index)
  if (!step.environment.domainRules?.rules.some((rule) => rule.tool === step.tool.name && rule.demand === demand))
    return null
  const session = playUpTo(steps, index, open)(step.environment)
  const free = Object.keys(step.args).filter(
    (field) =>
      meaningOf(itemAt(step.tool.input.shape, field)).entity === undefined &&
      !ACT.test(field) &&
      // Who is asked whether it shall be so much says a smaller number; nobody answers so with another choice.
      (demand === 'decline' || typeof step.args[field] === 'number') &&
      steps.every((other, i) => i === index || !Object.values(other.args).includes(itemAt(step.args, field))),
  )
  for (const field of random.shuffle(free)) {
    for (const value of wrongValues(itemAt(step.args, field), session, step, field, random)) {
      const args = { ...step.args, [field]: value }
      const rule = value === step.args[field] ? undefined : ruleAt(session, step, args)
      if (rule?.demand === demand && session.fork().call(step.tool.name, args).ok)
        return { step: index, rule, args, field }
    }
  }
  return null
}

/** A script of whose steps the first `made` are made, with the index of the turn in which the assistant declines or asks. */
export interface RuledScript {
  readonly whole: Script
  readonly made: number
  readonly turn: number
}

/**
 * Returns the script in which the assistant declines, or asks, instead of making the call that a rule is about.
 * @returns `null` when its turn does not end with that call, or when something is looked up unasked in that turn. It would be unclear
 *   whether the look-up is made before the answer or after
 */
export function withRule(script: Script, { outcome, ...ruled }: RuledCase): RuledScript | null {
  const { turns, silent, steps } = script
  const at = turns.findIndex((turn) => turn.steps.includes(ruled.step))
  const turn = itemAt(turns, at)
  if (turn.says !== 'request' || turn.withheld || turn.failed || turn.steps.at(-1) !== ruled.step) return null
  if (turn.steps.some((step) => silent.has(step))) return null
  const isMade = outcome === 'agreed' || outcome === 'amended'
  if (!isMade && (ruled.step !== steps.length - 1 || ruled.step === 0)) return null
  const asked: Turn = { ...turn, steps: turn.steps.slice(0, -1), ruled }
  return {
    whole: { ...script, turns: [...turns.slice(0, at), asked, ...turnsAfter(outcome, ruled), ...turns.slice(at + 1)] },
    made: isMade ? steps.length : steps.length - 1,
    turn: at,
  }
}

function turnsAfter(outcome: RuledCase['outcome'], ruled: Omit<RuledCase, 'outcome'>): Turn[] {
  switch (outcome) {
    case 'amended':
      return [{ says: 'correct', ask: ruled.step, field: ruled.field!, steps: [ruled.step] }]
    case 'dropped':
      return []
    case 'agreed':
      return [{ says: outcome, steps: [ruled.step], about: ruled }]
    default:
      return [{ says: outcome, steps: [], about: ruled }]
  }
}

/** Whether a listener would understand the references of a call that is not made in the end, as if it were. */
export function isUnderstoodUndone(
  { whole: { steps }, made, turn }: RuledScript,
  { exchanges, origins }: Worded,
  { profile, catalogue }: SynthesisContext,
): boolean {
  if (made === steps.length) return true
  const asIfMade = exchanges.map((exchange, i) =>
    i === turn ? { ...exchange, calls: [...exchange.calls, callOf(itemAt(steps, made), made)] } : exchange,
  )
  const groundTruth = steps.map(({ tool, args }) => ({ name: tool.name, arguments: args }))
  return (
    unresolvedIn({ exchanges: asIfMade, speech: profile.speech, origins, task: { groundTruth } }, catalogue).length ===
    0
  )
}

/** Returns the role of the domain rules of an example. */
export function roleOf(
  { rule, outcome, step, args }: RuledCase,
  { whole: { steps }, turn }: RuledScript,
): DomainRuleRole {
  const { environment, tool } = itemAt(steps, step)
  const found = {
    rule: `${environment.name}:${rule.name}`,
    turn,
    call: { environment: environment.name, name: tool.name, arguments: args },
  }
  if (outcome === 'insisted' || outcome === 'dropped') return { role: 'declined', outcome, ...found }
  if (outcome === 'agreed' || outcome === 'withdrawn') return { role: 'confirmed', outcome, ...found }
  return { role: rule.demand === 'decline' ? 'declined' : 'confirmed', outcome, ...found }
}
