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

/** What a stage looks at. Each needs all that the ones before it needed. */
type CheckInput =
  /** The signed announcement, and what the coordinator knows of its lease. The coordinator's admission runs it. */
  | { readonly input: 'announcement' }
  | { readonly input: 'body'; run(group: DeliveredGroup, signal: AbortSignal): Promise<void> }
  /** The groups that were accepted for the same task. */
  | { readonly input: 'earlier groups'; readonly run: typeof findOverlap }
  /** The statistics of a forward pass of the policy. */
  | {
      readonly input: 'audit'
      /** @returns the fault, in one sentence for the volunteer */
      run(group: MeasuredGroup): string | null
      /** What was measured, in one sentence, where there is no calibration to judge by. */
      numbers(statistics: GroupStatistics): string
    }

/** A stage of judging: one step of the table by which groups are accepted. */
export type VerificationCheck = CheckInput & {
  /** Position in the table, from 0 on. */
  readonly number: number
  readonly name: string
  /** What it checks, as half a sentence for docs/protocol.md. */
  readonly check: string
  /** Codes with which it refuses a group. Each belongs to one stage. */
  readonly refusals: readonly RefusalCode[]
  /** What one group costs: microseconds, some milliseconds, all of its calls again, or the policy's forward pass over its tokens. */
  readonly cost: 'look-up' | 'reading' | 'replay' | 'forward pass'
  /** Whether it needs the forward pass of the group's policy: then it is run on audited groups alone. */
  readonly forwardPass: boolean
}

/**
 * The stages of judging, cheapest first. Who judges runs them in this order: the coordinator, a volunteer at home, and the
 * calibration. A stage is added by its row, its file, its test and its attacker.
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
    check: 'completions that an accepted group of the same task holds too, changed or not, more than chance explains',
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
    check: 'the end token was plausible (its form is part of stage 3)',
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
/** Codes of the stages; every other one has nothing to do with what a group is. */
export type CheckCode = Row['refusals'][number]
/** Codes of the stages that need the policy's forward pass. */
export type AuditCode = RowsOf<'audit'>['refusals'][number]

/** The stages that need this and no more, in the order of the table. */
function needing<I extends Row['input']>(input: I): readonly RowsOf<I>[] {
  return CHECKS.filter((check): check is RowsOf<I> => check.input === input)
}
export const BODY_CHECKS: readonly RowsOf<'body'>[] = needing('body')
export const AUDIT_CHECKS: readonly RowsOf<'audit'>[] = needing('audit')
const [announcementCheck] = needing('announcement')
const [duplicatesCheck] = needing('earlier groups')
export const ANNOUNCEMENT_CHECK = announcementCheck!
export const DUPLICATES_CHECK = duplicatesCheck!

/** The stage that refuses with this code; undefined: no stage does. */
export const checkOf = (code: RefusalCode): Row | undefined =>
  CHECKS.find(({ refusals }) => (refusals as readonly RefusalCode[]).includes(code))

/** `refused`: the stage holds something against the group. `failed`: we could not tell. */
export type CheckOutcome = 'passed' | 'refused' | 'failed'

/** Hears what stages do: how often each ran, with which outcome, and how long it took. */
export interface CheckWatch {
  /** Milliseconds from any fixed moment on. */
  now(): number
  onCheck(number: CheckNumber, outcome: CheckOutcome, ms: number): void
}

export const UNWATCHED: CheckWatch = { now: () => 0, onCheck: () => undefined }

/** Notes that a stage begins, or began at `sinceMs`. @returns to be called with its outcome */
export function beginCheck(
  number: CheckNumber,
  watch: CheckWatch,
  sinceMs = watch.now(),
): (outcome: CheckOutcome) => void {
  return (outcome) => watch.onCheck(number, outcome, watch.now() - sinceMs)
}

/** What a stage that threw this says of the group. */
export const outcomeOf = (why: unknown): CheckOutcome =>
  why instanceof SwarmRefusal && why.code !== 'internal' ? 'refused' : 'failed'

/** Runs stages on a group, one after the other, until one refuses it. @throws what that stage throws */
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
