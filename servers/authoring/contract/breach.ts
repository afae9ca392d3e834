import { CodedError } from '../../../common/errors/index.js'

/** An environment contradicts its declaration or the contract. `detail` names the place. */
export class ContractBreach extends CodedError<'contract_breach'> {
  constructor(
    detail: string,
    /** What the author can change. */
    readonly advice: string,
  ) {
    super('contract_breach', detail)
    this.message = detail
  }
}

/** @throws ContractBreach unless `condition` is true */
export function hold(condition: boolean, problem: string, advice: string): asserts condition {
  if (!condition) throw new ContractBreach(problem, advice)
}

/** One check of an environment. */
export interface EnvironmentCheck {
  /** A sentence without its subject, which is the environment: `starts the same for the same seed`. */
  readonly name: string
  /** @throws ContractBreach, or an exception of the environment's code, which is a breach as well */
  run(): void
}
