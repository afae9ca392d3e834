import { nameTask, type Task } from '../../../rollout/episode/index.js'
import { deriveSeed, seededRandom } from '../../../servers/kernel/index.js'
import { domainRulesText } from '../../dataset/domain-rules-kept.js'
import type { Example } from '../../dataset/example.js'
import { makeAbstention } from './abstention.js'
import { makeClarification } from './clarification.js'
import { makeMultiTurn } from './multi-turn.js'
import { firstObjection, OF_EXAMPLES } from './objections.js'
import type { Assignment, Made, Maker, Rejection, SynthesisContext } from './synthesis-context.js'

/** Attempts with other chains and words in one state of the environments (the paper, section 3.2, does not give its k). */
const ATTEMPTS = 5

const NONE: ReadonlySet<string> = new Set()

/** Makes one example, or finds that this round yields none. The same assignment and context give the same bytes. */
export function makeExample(
  assignment: Assignment,
  context: SynthesisContext,
  spent: ReadonlySet<string> = NONE,
): Made {
  const rejected: Rejection[] = []
  const environmentSeed = environmentSeedOf(assignment, context)
  const tried = new Set<string>()
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const random = seededRandom(
      deriveSeed('prove/example/1', context.seed, assignment.index, assignment.round, attempt),
    )
    const drawn = MAKERS[assignment.kind]({ assignment, environmentSeed, context, random, tried, spent })
    const example = typeof drawn === 'string' ? drawn : withDomainRules(drawn, assignment, context)
    const made = typeof example === 'string' ? example : (firstObjection(OF_EXAMPLES, { example, context }) ?? example)
    if (typeof made !== 'string') return { example: made, rejected }
    const chain = [...tried].at(-1)
    rejected.push({ by: made, ...(chain === undefined ? {} : { chain }) })
    // What no chain of this state does now none does in the next attempt.
    if (made === 'no_chain') break
  }
  return { example: null, rejected }
}

/**
 * Returns the example with the domain rules of the offered environments, if it is to have any. Examples without an applicable rule still offer
 * tools with rules. Otherwise the rules would reveal that the assistant must decline or ask.
 */
function withDomainRules(example: Example, { rules }: Assignment, { catalogue }: SynthesisContext): Example {
  const { id: _, ...body } = example.task
  const text = rules === undefined ? undefined : domainRulesText(body, catalogue)
  if (text === undefined) return example
  const task = nameTask({ ...body, system: [...(body.system === undefined ? [] : [body.system]), text].join('\n\n') })
  return { ...example, task, domainRules: example.domainRules ?? { role: 'abiding' } }
}

/** Returns an environment seed. Seeds of different splits differ modulo four. Examples that are made together share their seeds. */
function environmentSeedOf({ index, round, split }: Assignment, { seed, profile }: SynthesisContext): number {
  const part: number[] =
    round === 0
      ? [Math.floor(index / profile.perEnvironment[split]), 0]
      : [Math.floor(index / LATER_EXAMPLES), Math.ceil(round / LATER_ROUNDS)]
  const drawn = deriveSeed('prove/world/1', seed, ...part)
  return drawn - (drawn % 4) + { train: 0, validation: 1, 'held-out': 3 }[split]
}

/** Consecutive examples, and rounds, that share their seeds in later rounds, whose batches contain the remaining examples of the whole data set. */
const LATER_EXAMPLES = 5000
const LATER_ROUNDS = 4

const MAKERS: Readonly<Record<Task['kind'], Maker>> = {
  'multi-turn': makeMultiTurn,
  clarification: makeClarification,
  abstention: makeAbstention,
}
