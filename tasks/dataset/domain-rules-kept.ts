import { type Catalogue, openSessions, type Task } from '../../rollout/episode/index.js'
import { policyDocument, type RuleContext, ruleFor, type Session, type WorldCache } from '../../servers/kernel/index.js'
import type { Example, TeacherCall } from './example.js'

const HEADING = '# Policy'
const INTRODUCTION =
  'Keep to these rules. What they forbid you do not do, though a tool would: say why. What they want confirmed you do only after you have asked and the user has agreed.'

/**
 * The policies of the worlds on offer, as a task's system message ends with them.
 * @returns `undefined` where none of them has a policy
 */
export function policiesOf({ worlds }: Pick<Task, 'worlds'>, catalogue: Catalogue): string | undefined {
  const documents = worlds.flatMap(({ server }) => {
    const definition = catalogue.get(server)
    return (definition && policyDocument(definition)) ?? []
  })
  return documents.length === 0 ? undefined : [HEADING, INTRODUCTION, ...documents].join('\n\n')
}

/**
 * What is wrong with an example as one whose assistant keeps to the policies of its worlds: a call that a rule forbids, one that is made before
 * the user agreed, one of which nobody could tell whether a rule applies, or words of a rule about a call to which it does not. Every call is made again in fresh sessions.
 * @returns `undefined` where nothing is
 * @throws EpisodeError `bad_task`
 */
export function policyProblem(example: Example, catalogue: Catalogue, worlds: WorldCache): string | undefined {
  const { task, exchanges, policy } = example
  const text = policiesOf(task, catalogue)
  if (text === undefined || !task.system?.endsWith(text))
    return 'its system message does not hold the policies of its worlds'
  const sessions = openSessions(task, catalogue, worlds)
  const seen: unknown[] = []
  for (const [turn, { calls }] of exchanges.entries()) {
    for (const call of calls) {
      const problem = problemOf(call, turn, example, sessions.get(call.server)!, seen)
      if (problem !== undefined) return `turn ${turn}, ${call.name}: ${problem}`
      const result = sessions.get(call.server)!.call(call.name, call.arguments)
      if (result.ok) seen.push(result.output)
    }
    if (policy === undefined || policy.role === 'abiding' || policy.turn !== turn) continue
    const session = sessions.get(policy.call.server)
    const { name, arguments: args } = policy.call
    const rule = session && ruleIn(session, policy.call)
    if (!session || rule === undefined || `${policy.call.server}:${rule.name}` !== policy.rule)
      return `turn ${turn}: ${policy.rule} does not apply to the call`
    if ((rule.demand === 'decline') !== (policy.role === 'declined'))
      return `turn ${turn}: ${policy.rule} wants another answer`
    if (!session.fork().call(name, args).ok) return `turn ${turn}: the world itself refuses the call`
    if (!isTold(session, policy.call, seen)) return `turn ${turn}: nothing shows that ${policy.rule} applies`
  }
  return undefined
}

type Called = Pick<TeacherCall, 'server' | 'name' | 'arguments'>

const contextOf = (session: Session): RuleContext => ({ db: session.db, today: session.now().slice(0, 10) })
const ruleIn = (session: Session, { name, arguments: args }: Called) =>
  ruleFor(session.world.server, name, args, contextOf(session))

function problemOf(
  call: TeacherCall,
  turn: number,
  { policy }: Example,
  session: Session,
  seen: readonly unknown[],
): string | undefined {
  if (!isTold(session, call, seen)) return 'nothing shows whether a rule applies'
  const rule = ruleIn(session, call)
  if (!rule) return undefined
  const isAgreed =
    rule.demand === 'confirm' &&
    policy?.role === 'confirmed' &&
    policy.outcome === 'agreed' &&
    turn === policy.turn + 1 &&
    call.name === policy.call.name &&
    JSON.stringify(call.arguments) === JSON.stringify(policy.call.arguments)
  return isAgreed ? undefined : `${rule.name} forbids it, or wants it confirmed first`
}

/** Whether results so far show what the rules about a tool ask of the things that a call names. */
function isTold({ world: { server } }: Session, { name, arguments: args }: Called, seen: readonly unknown[]): boolean {
  return (server.policy?.rules ?? [])
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
