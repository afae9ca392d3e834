import { suite } from 'uvu'
import { type ContractOptions, environmentContract } from '../../servers/authoring/contract/environment-contract.js'
import type { Environment } from '../../servers/kernel/index.js'

export type { Provocation } from '../../servers/authoring/contract/failure-checks.js'

/** Minimums for environments of the catalogue, above those for other environments. */
const CATALOGUE_FLOOR = { leastFailures: 8, leastInvariants: 4 }

/** Registers and runs the checks of `prove-server check` as a separate suite. */
export function checkEnvironmentContract(environment: Environment, options: ContractOptions): void {
  const test = suite(`the environment ${environment.name}`)
  for (const { name, run } of environmentContract(environment, { ...CATALOGUE_FLOOR, ...options })) test(name, run)
  test.run()
}
