import { suite } from 'uvu'
import { type ContractOptions, environmentContract } from '../../servers/authoring/contract/environment-contract.js'
import type { Environment } from '../../servers/kernel/index.js'

export type { Provocation } from '../../servers/authoring/contract/failure-checks.js'

/** What a world of the catalogue has beyond what is asked of others. */
const CATALOGUE_FLOOR = { leastFailures: 8, leastInvariants: 4 }

/** Registers and runs, as a suite of its own, what `prove-server check` asks of a world. */
export function checkEnvironmentContract(environment: Environment, options: ContractOptions): void {
  const test = suite(`the ${environment.name} world`)
  for (const { name, run } of environmentContract(environment, { ...CATALOGUE_FLOOR, ...options })) test(name, run)
  test.run()
}
