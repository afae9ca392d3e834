import { nameTask, type Task, toolsetOf } from '../../../rollout/episode/index.js'
import { deriveSeed, hasRules, seededRandom } from '../../../servers/kernel/index.js'
import { answerWords } from '../../dataset/answer-words.js'
import { domainRulesProblem, domainRulesText } from '../../dataset/domain-rules-kept.js'
import type { Drops, Example } from '../../dataset/example.js'
import { makeAbstention } from './abstention.js'
import { makeClarification } from './clarification.js'
import { type WantedRole, wantedRole } from './domain-rule-case.js'
import { makeMultiTurn } from './multi-turn.js'
import type { Assignment, Made, Maker, SynthesisContext } from './synthesis-context.js'

/** Attempts with new chain, seed and words before an assignment is given up for this round. */
const ATTEMPTS = 30
/** Attempts with one seed before another state is generated (the paper, section 3.2, does not give its k). */
const ATTEMPTS_PER_ENVIRONMENT = 10

/** Makes one example, or finds that this round yields none. The same assignment and context give the same bytes. */
export function makeExample(assignment: Assignment, context: SynthesisContext): Made {
  const drops: Drops = {}
  const role = wantedRole(assignment, context)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const random = seededRandom(
      deriveSeed('prove/example/1', context.seed, assignment.index, assignment.round, attempt),
    )
    const environment =
      assignment.round * (ATTEMPTS / ATTEMPTS_PER_ENVIRONMENT) + Math.floor(attempt / ATTEMPTS_PER_ENVIRONMENT)
    const environmentSeed = environmentSeedOf(assignment, environment, context)
    const drawn = MAKERS[assignment.kind](assignment, environmentSeed, context, random)
    const candidate = typeof drawn === 'string' || role === undefined ? drawn : governed(drawn, role, context)
    const made = typeof candidate === 'string' || tellsTheTruth(candidate, context) ? candidate : 'words'
    if (typeof made !== 'string') return { example: made, drops }
    if (made !== 'other_split') drops[made] = (drops[made] ?? 0) + 1
    // Training chains run through the same tool each time: what this environment does not give it does not give at the next attempt either.
    if (made === 'no_chain' && assignment.split === 'train') attempt = lastInEnvironment(attempt)
  }
  return { example: null, drops }
}

const lastInEnvironment = (attempt: number): number =>
  attempt - (attempt % ATTEMPTS_PER_ENVIRONMENT) + ATTEMPTS_PER_ENVIRONMENT - 1

/**
 * Returns the example with the domain rules of the offered environments, if its assistant follows them. Examples without an applicable rule
 * still offer tools with rules. Otherwise the rules would reveal that the assistant must decline or ask.
 */
function governed(
  example: Example,
  role: WantedRole,
  { catalogue, seedStates: environments }: SynthesisContext,
): Example | 'domain_rules' {
  const { id: _, ...body } = example.task
  const text = domainRulesText(body, catalogue)
  if (text === undefined) return example
  const task = nameTask({ ...body, system: [...(body.system === undefined ? [] : [body.system]), text].join('\n\n') })
  const made: Example = { ...example, task, domainRules: example.domainRules ?? { role: 'abiding' } }
  const isBare =
    role === 'abiding' &&
    task.kind === 'multi-turn' &&
    !example.exchanges.some(({ calls }) =>
      calls.some(({ environment, name }) => hasRules(catalogue.get(environment)!, name)),
    )
  return isBare || domainRulesProblem(made, catalogue, environments) !== undefined ? 'domain_rules' : made
}

/** Checks that the assistant states the requested facts, and no value without a source. */
function tellsTheTruth(example: Example, { catalogue }: SynthesisContext): boolean {
  const { stated, invented } = answerWords(example, toolsetOf(example.task, catalogue))
  return stated === 1 && invented.size === 0
}

/** Returns an environment seed. Seeds of different splits differ modulo four. Examples that are made together share their seeds. */
function environmentSeedOf(
  { index, round, split }: Assignment,
  environment: number,
  { seed, profile }: SynthesisContext,
): number {
  const sharing = round === 0 ? profile.perEnvironment[split] : LATER_EXAMPLES_PER_ENVIRONMENT
  const drawn = deriveSeed('prove/world/1', seed, Math.floor(index / sharing), environment)
  return drawn - (drawn % 4) + { train: 0, validation: 1, 'held-out': 3 }[split]
}

/** Number of consecutive examples with the same seeds in later rounds, whose batches contain the remaining examples of the whole data set. */
const LATER_EXAMPLES_PER_ENVIRONMENT = 5000

const MAKERS: Readonly<Record<Task['kind'], Maker>> = {
  'multi-turn': makeMultiTurn,
  clarification: makeClarification,
  abstention: makeAbstention,
}
