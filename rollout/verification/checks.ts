import { type RefusalCode, SwarmRefusal } from '../../proto/index.js'
import { checkBounds } from './bounds.js'
import type { DeliveredGroup } from './delivered-group.js'
import { logprobFault, logprobNumbers } from './log-probabilities.js'
import type { MeasuredGroup } from './measured-group.js'
import { findOverlap } from './overlap.js'
import { checkPrompt } from './prompt.js'
import { checkReplay } from './replay.js'
import type { GroupStatistics } from './sampled-token.js'
import { samplerFault, samplerNumbers } from './sampler.js'
import { terminationFault, terminationNumbers } from './termination.js'

/** The input of a check. Each kind needs the input of the kinds before it. */
type CheckInput =
  /** The signed announcement and its lease. The coordinator's admission runs the check. */
  | { readonly input: 'announcement' }
  | { readonly input: 'body'; run(group: DeliveredGroup, signal: AbortSignal): Promise<void> }
  /** The earlier accepted groups of the same task. */
  | { readonly input: 'earlier groups'; readonly run: typeof findOverlap }
  /** Statistics from a forward pass of the policy. */
  | {
      readonly input: 'audit'
      /** @returns the fault, in one sentence for the volunteer; null: none */
      run(group: MeasuredGroup): string | null
      /** Describes the measured numbers in one sentence, for use without a calibration. */
      numbers(statistics: GroupStatistics): string
    }

/** A verification check: one row of the table by which groups are accepted. */
export type VerificationCheck = CheckInput & {
  /** Position in the table, from 0 on. */
  readonly number: number
  readonly name: string
  /** Short description for docs/reference/protocol.md. */
  readonly check: string
  /**
   * The refusal codes that `checkOf` assigns to this check; each code is listed once. Some are also used elsewhere: the checks
   * `announcement` and `bounds` both refuse with `body_mismatch` and `wrong_group_size`. The check `announcement` also refuses with
   * `wrong_policy` and `quarantined`, which are codes of lease requests and belong to no check.
   */
  readonly refusals: readonly RefusalCode[]
  /** Cost of one group: microseconds, some milliseconds, a replay of all its calls, or the policy's forward pass over its tokens. */
  readonly cost: 'look-up' | 'reading' | 'replay' | 'forward pass'
  /** Whether the check needs the forward pass of the group's policy, so that only audited groups run it. */
  readonly forwardPass: boolean
}

/**
 * The verification checks, cheapest first. The coordinator, `prove-node verify-group` and the calibration run them in this order. A new
 * check needs a row here, a file, a test and an attacker.
 */
export const CHECKS = [
  {
    number: 0,
    name: 'announcement',
    check:
      'size, form, signature, rate, nonce; the lease and its owner, task, policy, number of rewards, deadline, staleness',
    refusals: ['unknown_lease', 'lease_owner', 'replayed', 'body_mismatch', 'lease_expired', 'stale_policy'],
    cost: 'look-up',
    forwardPass: false,
    input: 'announcement',
  },
  {
    number: 1,
    name: 'bounds',
    check:
      'size and form of the body, token ids in the vocabulary, finite log-probabilities of at most 0, lengths, number of rollouts',
    refusals: ['too_large', 'malformed', 'wrong_group_size', 'out_of_bounds'],
    cost: 'reading',
    forwardPass: false,
    input: 'body',
    run: checkBounds,
  },
  {
    number: 2,
    name: 'prompt',
    check: 'the prompt rebuilt from the lease and equal, token for token',
    refusals: ['prompt_mismatch'],
    cost: 'reading',
    forwardPass: false,
    input: 'body',
    run: checkPrompt,
  },
  {
    number: 3,
    name: 'replay',
    check:
      'every call repeated in fresh sessions: environment tokens, loss mask, results, final state, every reward component and the end reason equal, without tolerance',
    refusals: [
      'environment_mismatch',
      'mask_mismatch',
      'replay_mismatch',
      'state_mismatch',
      'reward_mismatch',
      'termination',
      'environment_nondeterministic',
    ],
    cost: 'replay',
    forwardPass: false,
    input: 'body',
    run: checkReplay,
  },
  {
    number: 4,
    name: 'duplicates',
    check:
      'completions that an accepted group of the same task contains too, changed or not, more than chance explains',
    refusals: ['duplicate'],
    cost: 'look-up',
    forwardPass: false,
    input: 'earlier groups',
    run: findOverlap,
  },
  {
    number: 5,
    name: 'log-probabilities',
    check: 'recomputed under the announced policy',
    refusals: ['logprob_mismatch'],
    cost: 'forward pass',
    forwardPass: true,
    input: 'audit',
    run: logprobFault,
    numbers: logprobNumbers,
  },
  {
    number: 6,
    name: 'sampler',
    check: 'the tokens follow from the lease’s sampler seeds',
    refusals: ['sampler_mismatch'],
    cost: 'forward pass',
    forwardPass: true,
    input: 'audit',
    run: samplerFault,
    numbers: samplerNumbers,
  },
  {
    number: 7,
    name: 'termination',
    check: 'the end token was plausible (its form is part of check 3)',
    refusals: ['implausible_end'],
    cost: 'forward pass',
    forwardPass: true,
    input: 'audit',
    run: terminationFault,
    numbers: terminationNumbers,
  },
] as const satisfies readonly VerificationCheck[]

type Row = (typeof CHECKS)[number]
type RowsOf<I extends Row['input']> = Extract<Row, { input: I }>

export type CheckNumber = Row['number']
/** Refusal codes of the checks. Every other code is independent of a group's content. */
export type CheckCode = Row['refusals'][number]
/** Refusal codes of the checks that need the policy's forward pass. */
export type AuditCode = RowsOf<'audit'>['refusals'][number]

/** Returns the checks with this kind of input, in the order of the table. */
function needing<I extends Row['input']>(input: I): readonly RowsOf<I>[] {
  return CHECKS.filter((check): check is RowsOf<I> => check.input === input)
}
export const BODY_CHECKS: readonly RowsOf<'body'>[] = needing('body')
export const AUDIT_CHECKS: readonly RowsOf<'audit'>[] = needing('audit')
const [announcementCheck] = needing('announcement')
const [duplicatesCheck] = needing('earlier groups')
export const ANNOUNCEMENT_CHECK = announcementCheck!
export const DUPLICATES_CHECK = duplicatesCheck!

/** Returns the check to which a refusal code belongs; undefined: none. */
export const checkOf = (code: RefusalCode): Row | undefined =>
  CHECKS.find(({ refusals }) => (refusals as readonly RefusalCode[]).includes(code))

/** The outcome of a check. `refused`: the check found a fault of the group. `failed`: the check could not run. */
export type CheckOutcome = 'passed' | 'refused' | 'failed'

/** Observer of checks: it counts the runs of each check by outcome, and measures their duration. */
export interface CheckWatch {
  /** Milliseconds from any fixed moment on. */
  now(): number
  onCheck(number: CheckNumber, outcome: CheckOutcome, ms: number): void
}

export const UNWATCHED: CheckWatch = { now: () => 0, onCheck: () => undefined }

/** Starts to measure a check that begins now, or began at `sinceMs`. @returns  a function to call with the outcome */
export function beginCheck(
  number: CheckNumber,
  watch: CheckWatch,
  sinceMs = watch.now(),
): (outcome: CheckOutcome) => void {
  return (outcome) => watch.onCheck(number, outcome, watch.now() - sinceMs)
}

/** Returns the outcome of a check that threw this error. */
export const outcomeOf = (why: unknown): CheckOutcome =>
  why instanceof SwarmRefusal && why.code !== 'internal' ? 'refused' : 'failed'

/** Runs checks on a group, one after the other, until one throws. @throws the error of that check */
export async function runChecks<T>(
  checks: readonly { readonly number: CheckNumber; run(group: T, signal: AbortSignal): Promise<void> }[],
  group: T,
  watch: CheckWatch,
  signal: AbortSignal,
): Promise<void> {
  for (const { number, run } of checks) {
    const end = beginCheck(number, watch)
    try {
      await run(group, signal)
    } catch (why) {
      end(outcomeOf(why))
      throw why
    }
    end('passed')
  }
}
