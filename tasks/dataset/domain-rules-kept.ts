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
 * The policies of the worlds on offer, as a task's system message ends with them.
 * @returns `undefined` where none of them has a policy
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
 * What is wrong with an example as one whose assistant keeps to the policies of its worlds: a call that a rule forbids, one that is made before
 * the user agreed, one of which nobody could tell whether a rule applies, or words of a rule about a call to which it does not. Every call is made again in fresh sessions.
 * @returns `undefined` where nothing is
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
    return 'its system message does not hold the policies of its worlds'
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
      return `turn ${turn}: ${domainRules.rule} wants another answer`
    if (!session.fork().call(name, args).ok) return `turn ${turn}: the world itself refuses the call`
    if (!isStated(session, domainRules.call, seen))
      return `turn ${turn}: nothing shows that ${domainRules.rule} applies`
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
  if (!isStated(session, call, seen)) return 'nothing shows whether a rule applies'
  const rule = ruleIn(session, call)
  if (!rule) return undefined
  const isAgreed =
    rule.demand === 'confirm' &&
    domainRules?.role === 'confirmed' &&
    domainRules.outcome === 'agreed' &&
    turn === domainRules.turn + 1 &&
    call.name === domainRules.call.name &&
    JSON.stringify(call.arguments) === JSON.stringify(domainRules.call.arguments)
  return isAgreed ? undefined : `${rule.name} forbids it, or wants it confirmed first`
}

/** Whether results so far show what the rules about a tool ask of the things that a call names. */
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
          shows(
            result,
            (row) => row[sees.argument] === args[sees.argument] && sees.fields.every((field) => field in row),
          ),
        ),
    )
}

/** Whether a result has an object that fits, anywhere in it. */
function shows(result: unknown, fits: (row: Readonly<Record<string, unknown>>) => boolean): boolean {
  if (typeof result !== 'object' || result === null) return false
  return fits(result as Readonly<Record<string, unknown>>) || Object.values(result).some((part) => shows(part, fits))
}
