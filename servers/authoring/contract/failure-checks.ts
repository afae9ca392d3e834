import { type Environment, generateSeedState, Session } from '../../kernel/index.js'
import { type EnvironmentCheck, hold } from './breach.js'

/** Brings a session to where the returned call (tool, arguments) must fail. */
export type Provocation = (session: Session) => readonly [tool: string, args: Record<string, unknown>]

/** By failure code. */
export type Provocations = Readonly<Record<string, Provocation>>

/** Returns the checks that each declared failure can happen, and that it changes nothing. */
export function failureChecks(environment: Environment, provoke: Provocations, seed: number): EnvironmentCheck[] {
  return [
    {
      name: 'has a provocation for every failure code',
      run() {
        const [declared, provoked] = [Object.keys(environment.failures), Object.keys(provoke)]
        const missing = declared.filter((code) => !provoked.includes(code))
        const unknown = provoked.filter((code) => !declared.includes(code))
        hold(
          missing.length === 0,
          `there is no provocation for ${missing.join(', ')}`,
          'Add a function of this name to provoke.js that returns the tool and arguments of a failing call, or remove the code.',
        )
        hold(
          unknown.length === 0,
          `${unknown.join(', ')} has a provocation, but is not declared`,
          'Declare it in failures.',
        )
      },
    },
    ...Object.entries(provoke).map(([code, provocation]) => ({
      name: `fails with ${code} and leaves the state alone`,
      run() {
        const session = Session.open(generateSeedState(environment, seed))
        const [tool, args] = provocation(session)
        const before = session.stateHash()
        const result = session.call(tool, args)
        const call = `${tool} ${JSON.stringify(args)}`
        hold(
          !result.ok && result.code === code,
          `seed ${seed}: ${call} should fail with ${code}, and ${result.ok ? `succeeds with ${JSON.stringify(result.output)}` : `fails with ${result.code}: ${result.message}`}`,
          'Correct the rule, or make the calls in the provocation that lead to it.',
        )
        hold(session.stateHash() === before, `${call} failed and changed something`, 'Change rows through db only.')
        const violations = session.violations()
        hold(
          violations.length === 0,
          `${call} left ${violations.join('; ')}`,
          'The calls before it broke an invariant.',
        )
      },
    })),
  ]
}
