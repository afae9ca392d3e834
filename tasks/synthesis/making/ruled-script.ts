import type { DomainRuleRole } from '../../dataset/example.js'
import { itemAt } from '../item-at.js'
import { unresolvedIn } from '../resolving/unresolved.js'
import type { Script, Turn } from './conversation-script.js'
import type { RuledCase } from './domain-rule-case.js'
import type { SynthesisContext } from './synthesis-context.js'
import { callOf, type Worded } from './word-conversation.js'

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
