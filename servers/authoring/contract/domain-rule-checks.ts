import { countOf } from '../../../common/errors/index.js'
import {
  type DomainRule,
  deriveSeed,
  type Environment,
  jsonSchemaOf,
  type SeededRandom,
  type Session,
  seededRandom,
} from '../../kernel/index.js'
import { type EnvironmentCheck, hold } from './breach.js'
import { walk } from './random-calls.js'
import { openerOf, SEEDS } from './seeds.js'

/** Number of calls before a rule is tried, and of tries, for each seed. */
const STEPS = 4
const DRAWS = 6
/** Largest share of a tool's accepted calls to which a rule may apply: with more, the tool alone reveals the answer. */
const MOST = 2 / 3

/** Returns the checks that each domain rule forbids some calls that the environment accepts, but not nearly all. */
export function domainRuleChecks(environment: Environment): EnvironmentCheck[] {
  const { domainRules } = environment
  if (!domainRules) return []
  const open = openerOf(environment)
  return [
    {
      name: 'has domain rules that apply to accepted calls, and to at most two thirds of the accepted calls of a tool',
      run() {
        const tally = new Map(domainRules.rules.map((rule) => [rule, { accepted: 0, ruled: 0 }]))
        for (const index of SEEDS.keys()) {
          const random = seededRandom(deriveSeed('policy', index))
          const session = open(index)
          walk(session, environment, random, STEPS)
          for (const [rule, counts] of tally) tryRule(rule, session, random, counts)
        }
        for (const [{ name, tool }, { accepted, ruled }] of tally) {
          const found = `rule ${name}: it applies to ${ruled} of ${countOf(accepted, 'call')} of ${tool} that the environment accepts`
          hold(ruled > 0, found, 'A rule that never applies teaches nothing: check which arguments sample draws.')
          hold(ruled <= MOST * accepted, found, 'Narrow the rule, so that the tool alone does not reveal the answer.')
        }
      },
    },
    {
      name: 'shows in its look-ups every field that its domain rules depend on',
      run() {
        for (const { name, sees } of domainRules.rules) {
          const reading = environment.tools.filter(({ annotations }) => annotations.readOnly)
          const isShown =
            !sees ||
            reading.some(({ output }) => showsAll(jsonSchemaOf(output, 'output'), [sees.argument, ...sees.fields]))
          hold(
            isShown,
            `rule ${name}: no look-up shows ${sees?.fields.join(' and ')}`,
            'Show the field next to the key in a result.',
          )
        }
      },
    },
  ]
}

function tryRule(
  rule: DomainRule,
  session: Session,
  random: SeededRandom,
  counts: { accepted: number; ruled: number },
): void {
  const tool = session.seedState.environment.toolsByName.get(rule.tool)!
  for (let draw = 0; draw < DRAWS; draw++) {
    const args = session.sampleArguments(tool, random, {})
    if (!args || !session.fork().call(tool.name, args).ok) continue
    counts.accepted++
    if (rule.applies(args, { db: session.db, today: session.now().slice(0, 10) })) counts.ruled++
  }
}

/** Whether a JSON schema has an object with all these properties, anywhere in it. */
function showsAll(schema: unknown, fields: readonly string[]): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  const { properties } = schema as { properties?: Readonly<Record<string, unknown>> }
  if (properties && fields.every((field) => field in properties)) return true
  return Object.values(schema).some((part) => showsAll(part, fields))
}
