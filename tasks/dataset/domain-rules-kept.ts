import { type Catalogue, openSessions, type Task } from '../../rollout/episode/index.js'
import {
  domainRulesDocument,
  type RuleContext,
  ruleFor,
  type SeedStateCache,
  type Session,
} from '../../servers/kernel/index.js'
import type { Example, ReferenceCall } from './example.js'

const HEADING = '# Policy'
const INTRODUCTION =
  'Keep to these rules. What they forbid you do not do, though a tool would: say why. What they want confirmed you do only after you have asked and the user has agreed.'

/**
 * Returns the domain rules of a task's environments, which end its system message.
 * @returns `undefined` if no environment has domain rules
 */
export function domainRulesText(
  { environments }: Pick<Task, 'environments'>,
  catalogue: Catalogue,
): string | undefined {
  const documents = environments.flatMap(({ environment }) => {
    const definition = catalogue.get(environment)
    return (definition && domainRulesDocument(definition)) ?? []
  })
  return documents.length === 0 ? undefined : [HEADING, INTRODUCTION, ...documents].join('\n\n')
}

/**
 * Checks that the assistant of an example follows the domain rules. Problems are a forbidden call, a call before the user confirmed it, and
 * a call without results that show whether a rule applies. A mention of a rule that does not apply is a problem too. Replays every call in
 * fresh sessions.
 * @returns the first problem; `undefined` if the example has no problem
 * @throws EpisodeError `bad_task`
 */
export function domainRulesProblem(
  example: Example,
  catalogue: Catalogue,
  seedStates: SeedStateCache,
): string | undefined {
  const { task, exchanges, domainRules } = example
  const text = domainRulesText(task, catalogue)
  if (text === undefined || !task.system?.endsWith(text))
    return 'its system message does not end with the domain rules of its environments'
  const sessions = openSessions(task, catalogue, seedStates)
  const seen: unknown[] = []
  for (const [turn, { calls }] of exchanges.entries()) {
    for (const call of calls) {
      const problem = problemOf(call, turn, example, sessions.get(call.environment)!, seen)
      if (problem !== undefined) return `turn ${turn}, ${call.name}: ${problem}`
      const result = sessions.get(call.environment)!.call(call.name, call.arguments)
      if (result.ok) seen.push(result.output)
    }
    if (domainRules === undefined || domainRules.role === 'abiding' || domainRules.turn !== turn) continue
    const session = sessions.get(domainRules.call.environment)
    const { name, arguments: args } = domainRules.call
    const rule = session && ruleIn(session, domainRules.call)
    if (!session || rule === undefined || `${domainRules.call.environment}:${rule.name}` !== domainRules.rule)
      return `turn ${turn}: ${domainRules.rule} does not apply to the call`
    if ((rule.demand === 'decline') !== (domainRules.role === 'declined'))
      return `turn ${turn}: ${domainRules.rule} requires another answer`
    if (!session.fork().call(name, args).ok) return `turn ${turn}: the environment itself rejects the call`
    if (!isStated(session, domainRules.call, seen))
      return `turn ${turn}: no result shows that ${domainRules.rule} applies`
  }
  return undefined
}

type Called = Pick<ReferenceCall, 'environment' | 'name' | 'arguments'>

const contextOf = (session: Session): RuleContext => ({ db: session.db, today: session.now().slice(0, 10) })
const ruleIn = (session: Session, { name, arguments: args }: Called) =>
  ruleFor(session.seedState.environment, name, args, contextOf(session))

function problemOf(
  call: ReferenceCall,
  turn: number,
  { domainRules }: Example,
  session: Session,
  seen: readonly unknown[],
): string | undefined {
  if (!isStated(session, call, seen)) return 'no result shows whether a rule applies'
  const rule = ruleIn(session, call)
  if (!rule) return undefined
  const isAgreed =
    rule.demand === 'confirm' &&
    domainRules?.role === 'confirmed' &&
    domainRules.outcome === 'agreed' &&
    turn === domainRules.turn + 1 &&
    call.name === domainRules.call.name &&
    JSON.stringify(call.arguments) === JSON.stringify(domainRules.call.arguments)
  return isAgreed ? undefined : `${rule.name} forbids the call or requires a confirmation`
}

/** Returns whether results so far show the fields that the rules about a tool need. */
function isStated(
  { seedState: { environment } }: Session,
  { name, arguments: args }: Called,
  seen: readonly unknown[],
): boolean {
  return (environment.domainRules?.rules ?? [])
    .filter(({ tool }) => tool === name)
    .every(
      ({ sees }) =>
        !sees ||
        seen.some((result) =>
          containsObject(
            result,
            (row) => row[sees.argument] === args[sees.argument] && sees.fields.every((field) => field in row),
          ),
        ),
    )
}

/** Returns whether a result contains an object that fits, at any depth. */
function containsObject(result: unknown, fits: (row: Readonly<Record<string, unknown>>) => boolean): boolean {
  if (typeof result !== 'object' || result === null) return false
  return (
    fits(result as Readonly<Record<string, unknown>>) ||
    Object.values(result).some((part) => containsObject(part, fits))
  )
}
