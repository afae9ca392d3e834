import { CodedError } from '../../../common/errors/index.js'

/** A world does not keep what it declares, or what everybody may expect of a world. `detail` names the place. */
export class ContractBreach extends CodedError<'contract_breach'> {
  constructor(
    detail: string,
    /** What its author can do about it. */
    readonly advice: string,
  ) {
    super('contract_breach', detail)
    this.message = detail
  }
}

/** @throws ContractBreach unless `holds` */
export function hold(holds: boolean, problem: string, advice: string): asserts holds {
  if (!holds) throw new ContractBreach(problem, advice)
}

/** One thing that must hold for a world. */
export interface EnvironmentCheck {
  /** A sentence about the world, without its subject: `starts the same for the same seed`. */
  readonly name: string
  /** @throws ContractBreach; what the world itself throws, which is a breach too */
  run(): void
}
