import { type RefusalCode, SwarmRefusal } from '../../proto/index.js'
import { checkBounds } from './bounds.js'
import type { DeliveredGroup } from './delivered-group.js'
import type { GroupEvidence } from './group-audit.js'
import { logprobFault, logprobNumbers } from './log-probabilities.js'
import { findOverlap } from './overlap.js'
import { checkPrompt } from './prompt.js'
import { checkReplay } from './replay.js'
import type { GroupStatistics } from './sampled-token.js'
import { samplerFault, samplerNumbers } from './sampler.js'
import { terminationFault, terminationNumbers } from './termination.js'

/** What a stage looks at. Each needs all that the ones before it needed. */
type StageInput =
  /** The signed announcement, and what the coordinator knows of its lease. The coordinator's admission runs it. */
  | { readonly input: 'announcement' }
  | { readonly input: 'body'; run(group: DeliveredGroup, signal: AbortSignal): Promise<void> }
  /** The groups that were accepted for the same task. */
  | { readonly input: 'earlier groups'; readonly run: typeof findOverlap }
  /** The statistics of a forward pass of the policy. */
  | {
      readonly input: 'evidence'
      /** @returns the fault, in one sentence for the volunteer */
      run(group: GroupEvidence): string | null
      /** What was measured, in one sentence, where there is no calibration to judge by. */
      numbers(statistics: GroupStatistics): string
    }

/** A stage of judging: one step of the table by which groups are accepted. */
export type JudgingStage = StageInput & {
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
export const STAGES = [
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
      'world_unstable',
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
    input: 'evidence',
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
    input: 'evidence',
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
    input: 'evidence',
    run: terminationFault,
    numbers: terminationNumbers,
  },
] as const satisfies readonly JudgingStage[]

type Row = (typeof STAGES)[number]
type RowsOf<I extends Row['input']> = Extract<Row, { input: I }>

export type StageNumber = Row['number']
/** Codes of the stages; every other one has nothing to do with what a group is. */
export type StageCode = Row['refusals'][number]
/** Codes of the stages that need the policy's forward pass. */
export type EvidenceCode = RowsOf<'evidence'>['refusals'][number]

/** The stages that need this and no more, in the order of the table. */
function needing<I extends Row['input']>(input: I): readonly RowsOf<I>[] {
  return STAGES.filter((stage): stage is RowsOf<I> => stage.input === input)
}
export const BODY_STAGES: readonly RowsOf<'body'>[] = needing('body')
export const EVIDENCE_STAGES: readonly RowsOf<'evidence'>[] = needing('evidence')
const [announcementStage] = needing('announcement')
const [duplicatesStage] = needing('earlier groups')
export const ANNOUNCEMENT_STAGE = announcementStage!
export const DUPLICATES_STAGE = duplicatesStage!

/** The stage that refuses with this code; undefined: no stage does. */
export const stageOf = (code: RefusalCode): Row | undefined =>
  STAGES.find(({ refusals }) => (refusals as readonly RefusalCode[]).includes(code))

/** `refused`: the stage holds something against the group. `failed`: we could not tell. */
export type StageOutcome = 'passed' | 'refused' | 'failed'

/** Hears what stages do: how often each ran, with which outcome, and how long it took. */
export interface StageWatch {
  /** Milliseconds from any fixed moment on. */
  now(): number
  onStage(number: StageNumber, outcome: StageOutcome, ms: number): void
}

export const UNWATCHED: StageWatch = { now: () => 0, onStage: () => undefined }

/** Notes that a stage begins, or began at `sinceMs`. @returns to be called with its outcome */
export function beginStage(
  number: StageNumber,
  watch: StageWatch,
  sinceMs = watch.now(),
): (outcome: StageOutcome) => void {
  return (outcome) => watch.onStage(number, outcome, watch.now() - sinceMs)
}

/** What a stage that threw this says of the group. */
export const outcomeOf = (why: unknown): StageOutcome =>
  why instanceof SwarmRefusal && why.code !== 'internal' ? 'refused' : 'failed'

/** Runs stages on a group, one after the other, until one refuses it. @throws what that stage throws */
export async function runStages<T>(
  stages: readonly { readonly number: StageNumber; run(group: T, signal: AbortSignal): Promise<void> }[],
  group: T,
  watch: StageWatch,
  signal: AbortSignal,
): Promise<void> {
  for (const { number, run } of stages) {
    const end = beginStage(number, watch)
    try {
      await run(group, signal)
    } catch (why) {
      end(outcomeOf(why))
      throw why
    }
    end('passed')
  }
}
