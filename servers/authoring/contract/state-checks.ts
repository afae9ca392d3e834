import { createHash } from 'node:crypto'
import fc from 'fast-check'
import {
  deriveSeed,
  type Environment,
  generateSeedState,
  type SeededRandom,
  Session,
  seededRandom,
  type ToolDefinition,
} from '../../kernel/index.js'
import { type EnvironmentCheck, hold } from './breach.js'
import { checkDates } from './dates.js'
import { scramble } from './random-calls.js'
import { openerOf, SEEDS } from './seeds.js'

/** Number of seeds that are only started: a rare combination of draws may break one start in a thousand. */
const STARTS = 500
const LONG_CALLS = 10_000
const LOOK_EVERY = 50
const CHAINS = 40
const LONGEST_CHAIN = 12

const SOUND = 'An invariant or the schema of a row is violated: correct the tool, or the invariant if it is too strict.'
const REPRODUCIBLE =
  'The same seed and calls must give the same bytes: keep no state outside the tables, and use random numbers and time of the context only.'

/** Returns the checks that must pass after any calls. */
export function stateChecks(environment: Environment): EnvironmentCheck[] {
  const open = openerOf(environment)
  return [
    {
      name: 'starts the same for the same seed, differently for another, and sound for all',
      run() {
        const rows = (seed: number) =>
          JSON.stringify([...generateSeedState(environment, seed).tables.values()].map((t) => t.rows))
        const [first, again] = [rows(7), rows(7)]
        hold(first === again, 'seed 7 gave two different starts', REPRODUCIBLE)
        hold(first !== rows(8), 'seeds 7 and 8 give the same start', 'Let seed draw its rows with random.')
        for (const seed of [...SEEDS, ...Array.from({ length: STARTS }, (_, i) => 100 + i)])
          checkSound(Session.open(generateSeedState(environment, seed)), `at the start of seed ${seed}`)
      },
    },
    {
      name: 'stays sound, transactional and reproducible over any sequence of calls',
      run() {
        const chain = fc.array(fc.integer(), { minLength: 1, maxLength: LONGEST_CHAIN })
        const found = fc.check(
          fc.property(fc.nat({ max: SEEDS.length - 1 }), chain, (index, steps) =>
            playChain(environment, open, index, steps),
          ),
          { numRuns: CHAINS, seed: 20260302 },
        )
        // Of the shortest sequence that fails.
        if (found.failed) throw found.errorInstance
      },
    },
    {
      name: `stays sound over ${LONG_CALLS.toLocaleString('en')} random calls, whose replay gives the same bytes`,
      run() {
        const [first, again] = [playLong(environment, open, true), playLong(environment, open, false)]
        hold(first === again, 'the same calls gave other bytes the second time', REPRODUCIBLE)
      },
    },
  ]
}

function checkSound(session: Session, when: string): void {
  const violations = session.violations()
  hold(violations.length === 0, `${when}: ${violations.join('; ')}`, SOUND)
  checkDates(session, when)
}

function playChain(
  environment: Environment,
  open: (index: number) => Session,
  index: number,
  steps: readonly number[],
): void {
  const session = open(index)
  const made: [string, Record<string, unknown>, string][] = []
  for (const step of steps) {
    const random = seededRandom(step)
    const tool = random.pick(environment.tools)
    const args = (random.chance(0.5) && session.sampleArguments(tool, random, {})) || scramble(session, tool, random)
    const call = `${tool.name} ${JSON.stringify(args)}`
    const earlier = made.map(([name, given]) => `${name} ${JSON.stringify(given)}`).join(', ')
    const stated = checkCall(session, tool, args, `seed ${SEEDS[index]}${earlier && `, after ${earlier}`}: ${call}`)
    made.push([tool.name, args, stated])
  }
  const again = open(index)
  for (const [name, args, stated] of made) {
    const second = JSON.stringify(again.call(name, args))
    hold(
      second === stated,
      `${name} ${JSON.stringify(args)} answered ${stated}, and in a second session ${second}`,
      REPRODUCIBLE,
    )
  }
  hold(again.stateHash() === session.stateHash(), 'the same calls led to another state', REPRODUCIBLE)
}

/** Makes a call in a session and in a fork of it. @returns the answer */
function checkCall(session: Session, tool: ToolDefinition, args: Record<string, unknown>, call: string): string {
  const before = session.stateHash()
  const apart = session.fork()
  const result = session.call(tool.name, args)
  const stated = JSON.stringify(result)
  const after = session.stateHash()
  hold(apart.stateHash() === before, `${call} changed a fork`, REPRODUCIBLE)
  hold(JSON.stringify(apart.call(tool.name, args)) === stated, `${call} answers differently in a fork`, REPRODUCIBLE)
  hold(session.stateHash() === after, `${call} in a fork changed the original`, REPRODUCIBLE)
  if (!result.ok) hold(after === before, `${call} failed and changed something`, 'Change rows through db only.')
  else if (tool.annotations.readOnly)
    hold(
      after === before,
      `${call} changed something, but the tool is declared readOnly`,
      'Declare readOnly: false, or do not change the tables.',
    )
  else checkSound(session, call)
  if (tool.annotations.idempotent && result.ok) {
    apart.call(tool.name, args)
    hold(
      apart.stateHash() === after,
      `${call} changed more when it was repeated, but the tool is declared idempotent`,
      'Remove idempotent, or change nothing in the second call.',
    )
  }
  return stated
}

/** @returns SHA-256 of all answers and final states */
function playLong(environment: Environment, open: (index: number) => Session, inspect: boolean): string {
  const bytes = createHash('sha256')
  for (const index of SEEDS.keys()) {
    const session = open(index)
    const random: SeededRandom = seededRandom(deriveSeed('long', index))
    for (let step = 1; step <= LONG_CALLS / SEEDS.length; step++) {
      const tool = random.pick(environment.tools)
      const sampled = random.chance(0.6) ? session.sampleArguments(tool, random, {}) : null
      bytes.update(JSON.stringify(session.call(tool.name, sampled ?? scramble(session, tool, random))))
      if (inspect && step % LOOK_EVERY === 0)
        checkSound(session, `seed ${SEEDS[index]}, after ${step} calls, the last of ${tool.name}`)
    }
    bytes.update(session.stateHash())
  }
  return bytes.digest('hex')
}
