import { nameTask, type Task, toolsetOf } from '../../../rollout/episode/index.js'
import { deriveSeed, hasRules, seededRandom } from '../../../servers/kernel/index.js'
import { domainRulesProblem, policiesOf } from '../../dataset/domain-rules-kept.js'
import type { Drops, Example } from '../../dataset/example.js'
import { wordsUnderstood } from '../../dataset/understood-words.js'
import { makeAbstention } from './abstention.js'
import { makeClarification } from './clarification.js'
import { type WantedRole, wantedRole } from './domain-rule-case.js'
import { makeMultiTurn } from './multi-turn.js'
import type { Assignment, Made, Maker, SynthesisContext } from './synthesis-context.js'

/** Draws of chain, environment and words before an assignment is given up for this round. */
const ATTEMPTS = 30
/** Attempts in one environment before another is generated (the paper's k, section 3.2, is not given). */
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
 * The example with the policies of the environments on offer, if its assistant keeps to them. Where no rule applies, one could: otherwise a policy
 * would give away that something is to be declined or asked.
 */
function governed(
  example: Example,
  role: WantedRole,
  { catalogue, seedStates: environments }: SynthesisContext,
): Example | 'domainRules' {
  const { id: _, ...body } = example.task
  const text = policiesOf(body, catalogue)
  if (text === undefined) return example
  const task = nameTask({ ...body, system: [...(body.system === undefined ? [] : [body.system]), text].join('\n\n') })
  const made: Example = { ...example, task, domainRules: example.domainRules ?? { role: 'abiding' } }
  const isBare =
    role === 'abiding' &&
    task.kind === 'multi-turn' &&
    !example.exchanges.some(({ calls }) =>
      calls.some(({ environment, name }) => hasRules(catalogue.get(environment)!, name)),
    )
  return isBare || domainRulesProblem(made, catalogue, environments) !== undefined ? 'domainRules' : made
}

/** The assistant tells what was asked for, and nothing that neither user nor environment gave. */
function tellsTheTruth(example: Example, { catalogue }: SynthesisContext): boolean {
  const { stated, invented } = wordsUnderstood(example, toolsetOf(example.task, catalogue))
  return stated === 1 && invented.size === 0
}

/** Environments of different splits never coincide: their seeds differ modulo four. Examples that are made together share their environments. */
function environmentSeedOf(
  { index, round, split }: Assignment,
  environment: number,
  { seed, profile }: SynthesisContext,
): number {
  const sharing = round === 0 ? profile.perEnvironment[split] : LATER_EXAMPLES_PER_ENVIRONMENT
  const drawn = deriveSeed('prove/world/1', seed, Math.floor(index / sharing), environment)
  return drawn - (drawn % 4) + { train: 0, validation: 1, 'held-out': 3 }[split]
}

/** Neighbouring examples that share their environments in later rounds, whose batches hold what is left from all over the data set. */
const LATER_EXAMPLES_PER_ENVIRONMENT = 5000

const MAKERS: Readonly<Record<Task['kind'], Maker>> = {
  'multi-turn': makeMultiTurn,
  clarification: makeClarification,
  abstention: makeAbstention,
}
