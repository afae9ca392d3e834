import { type Environment, generateSeedState, Session } from '../../kernel/index.js'
import { type EnvironmentCheck, hold } from './breach.js'

/** Brings a session to where the returned call (tool, arguments) must fail. */
export type Provocation = (session: Session) => readonly [tool: string, args: Record<string, unknown>]

/** By failure code. */
export type Provocations = Readonly<Record<string, Provocation>>

/** Each failure happens, by the code that is declared, and changes nothing. */
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
          `nothing provokes ${missing.join(', ')}`,
          'Add a function by that name that returns the tool and arguments of a call that fails so, or take the code away.',
        )
        hold(unknown.length === 0, `${unknown.join(', ')} is provoked and not declared`, 'Declare it in failures.')
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
          'Correct the rule, or let the provocation bring the session to where it applies.',
        )
        hold(
          session.stateHash() === before,
          `${call} failed and changed something`,
          'Rows are changed through db alone.',
        )
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
