import type { Environment } from '../../kernel/index.js'
import { readSpeech, type SpeechFile } from '../../load-speech.js'
import type { EnvironmentCheck } from './breach.js'
import { type DeclarationFloor, declarationChecks } from './declaration-checks.js'
import { domainRuleChecks } from './domain-rule-checks.js'
import { failureChecks, type Provocations } from './failure-checks.js'
import { type SampleBounds, sampleChecks } from './sample-checks.js'
import { sealed } from './sealed.js'
import { secretChecks } from './secret-checks.js'
import { speechChecks } from './speech-checks.js'
import { stateChecks } from './state-checks.js'

/** Inputs and limits of the contract. */
export interface ContractOptions extends Partial<SampleBounds>, Partial<DeclarationFloor> {
  /** One per failure code of the environment, and no others. */
  readonly provoke: Provocations
  /** Reads the speech of the environment. Default: `readSpeech`. */
  readonly speech?: () => SpeechFile
  /** Seed of the sessions in which failures are provoked. Default 1. */
  readonly provokeSeed?: number
}

/** About 60 words. */
const MAX_RESULT_CHARS = 540

/** Returns the checks of an environment. Together they take seconds, and each prepares only what it needs. */
export function environmentContract(environment: Environment, options: ContractOptions): EnvironmentCheck[] {
  const { provoke, sampleFloor = 0.9, maxResultChars = MAX_RESULT_CHARS, provokeSeed = 1 } = options
  const { leastFailures = 1, leastInvariants = 1 } = options
  const apart = sealed(environment)
  return [
    ...declarationChecks(apart, { leastFailures, leastInvariants }),
    ...speechChecks(apart, options.speech ?? (() => readSpeech(environment))),
    ...sampleChecks(apart, { sampleFloor, maxResultChars }),
    ...stateChecks(apart),
    ...failureChecks(apart, provoke, provokeSeed),
    ...secretChecks(apart),
    ...domainRuleChecks(apart),
  ]
}
