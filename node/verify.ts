import { countOf } from '../common/errors/index.js'
import { SwarmRefusal } from '../proto/index.js'
import type { Engine } from '../rollout/engine/index.js'
import { EpisodeError, parseTask, type Rollout, type Stage, type Task } from '../rollout/episode/index.js'
import {
  BODY_STAGES,
  type Calibration,
  drawsOf,
  EVIDENCE_STAGES,
  type GroupStatistics,
  type JudgingStage,
  judgeGroup,
  judgeStatistics,
  leaseSeed,
  measureGroup,
  rolesOf,
  roundSecretHash,
  type SampledToken,
  STAGES,
  type StageNumber,
  type StageOutcome,
  type StageWatch,
  UNWATCHED,
} from '../rollout/verification/index.js'
import { NodeError } from './errors.js'
import type { ClosedRound, GroupOrigin, KeptGroup } from './kept-group.js'

/** A stage of judging (docs/protocol.md, "Judging") done at home, or the check of the lease's seed. */
export interface VerifiedStage {
  readonly name: string
  /** `measured`: there are numbers, but no calibration to judge them by. `not checked`: `detail` says why. */
  readonly outcome: 'ok' | 'failed' | 'measured' | 'not checked'
  readonly detail: string
}

export interface VerifyParts {
  /** Worlds, tokenizer and template of the group's policy. */
  readonly theatre: Stage
  /** Under the group's policy. */
  readonly engine: Engine
  /** For the engine's backend; null: numbers that nothing is decided by. */
  readonly calibration: Calibration | null
  /** Of the newest manifest that was seen. */
  readonly closedRounds: readonly ClosedRound[]
}

/**
 * Judges a group as the coordinator does, with the node's own engine in the trainer's place. What needs other nodes' groups, or
 * the coordinator's memory of leases, is left out and said.
 * @returns the seed's check, and one line for each stage of the table
 * @throws NodeError `bad_lease` when its task cannot be read; EngineError
 */
export async function verifyGroup(group: KeptGroup, parts: VerifyParts, signal: AbortSignal): Promise<VerifiedStage[]> {
  const seed = checkSeed(group.origin, parts.closedRounds)
  const [read, rollouts] = await replayAtHome(group, parts.theatre, signal)
  const evidence = rollouts === null ? unweighed() : await weighed(group.origin, rollouts, parts, signal)
  const found = new Map([...read, ...evidence])
  return [seed, ...STAGES.map((stage) => found.get(stage.number) ?? notChecked(stage, 'only the coordinator can'))]
}

type Found = readonly (readonly [StageNumber, VerifiedStage])[]
type Named = Pick<JudgingStage, 'number' | 'name'>

const nameOf = ({ number, name }: Named): string => `stage ${number}, ${name}`
const notChecked = (stage: Named, detail: string): VerifiedStage => ({
  name: nameOf(stage),
  outcome: 'not checked',
  detail,
})

/**
 * Whether the coordinator has drawn the seed from a secret that it had committed to. A lease that was given back is given
 * out again in a later round of the same policy with the seed of the earlier one.
 */
export function checkSeed(
  { lease, peerId, round, roundSecretHash: hash }: GroupOrigin,
  closed: readonly ClosedRound[],
): VerifiedStage {
  const name = 'lease seed'
  const own = closed.find((other) => other.round === round)
  if (own && roundSecretHash(Buffer.from(own.secret, 'hex')) !== hash)
    return { name, outcome: 'failed', detail: `the secret of round ${round} is not the one that was committed to` }
  const source = closed.find(
    (other) =>
      other.round <= round &&
      leaseSeed(Buffer.from(other.secret, 'hex'), lease.policyId, peerId, lease.index).toString('hex') === lease.seed,
  )
  if (source) return { name, outcome: 'ok', detail: `it follows from the secret of round ${source.round}` }
  if (own) return { name, outcome: 'failed', detail: `it does not follow from the secret of round ${round}` }
  return { name, outcome: 'not checked', detail: `no manifest seen so far shows the secret of round ${round}` }
}

/** The stages that read the body, and the rollouts when it passed them all. */
async function replayAtHome(
  { origin, body }: KeptGroup,
  theatre: Stage,
  signal: AbortSignal,
): Promise<[Found, readonly Rollout[] | null]> {
  const { lease, limits } = origin
  const { leaseId, policyId, groupSize } = lease
  const expected = { leaseId, policyId, task: taskOf(lease.task), groupSize, limits }
  const ended = new Map<StageNumber, StageOutcome>()
  const watch: StageWatch = { ...UNWATCHED, onStage: (number, outcome) => ended.set(number, outcome) }
  const linesWith = (ok: string, failed: string): Found =>
    BODY_STAGES.map((stage) => {
      const outcome = ended.get(stage.number)
      if (outcome === undefined) return [stage.number, notChecked(stage, 'an earlier stage failed')]
      const passed = outcome === 'passed'
      return [stage.number, { name: nameOf(stage), outcome: passed ? 'ok' : 'failed', detail: passed ? ok : failed }]
    })
  try {
    const rollouts = await judgeGroup(body, expected, theatre, signal, { watch })
    const calls = rollouts.reduce((sum, rollout) => sum + rollout.calls.length, 0)
    return [linesWith(`${countOf(rollouts.length, 'rollout')} with ${countOf(calls, 'call')}`, ''), rollouts]
  } catch (error) {
    if (!(error instanceof SwarmRefusal)) throw error
    return [linesWith('passed', error.message), null]
  }
}

function taskOf(json: string): Task {
  try {
    return parseTask(JSON.parse(json))
  } catch (cause) {
    if (!(cause instanceof EpisodeError) && !(cause instanceof SyntaxError)) throw cause
    throw new NodeError('bad_lease', `the task of the kept group: ${cause.message}`, { cause })
  }
}

/** The sampled tokens of all rollouts, as the engine sees them now. */
async function weigh(
  { lease, limits }: GroupOrigin,
  rollouts: readonly Rollout[],
  { engine, theatre }: VerifyParts,
  signal: AbortSignal,
): Promise<SampledToken[]> {
  const seed = Buffer.from(lease.seed, 'hex')
  const found: SampledToken[] = []
  for (const [index, rollout] of rollouts.entries()) {
    const { tokens, mask, logprobs, promptLength } = rollout
    const own = drawsOf(rollout, seed, index, limits)
    let next = 0
    const draws = Array.from(mask.subarray(promptLength), (bit) => (bit === 1 ? own[next++]! : null))
    const weighed = await engine.evidence(tokens, promptLength, signal, draws)
    const sampled = weighed.filter((_, i) => mask[promptLength + i] === 1)
    const roles = rolesOf(rollout, theatre)
    for (const [k, { logprob, evidence, repair }] of sampled.entries())
      found.push({ claimed: logprobs[k]!, logp: logprob, evidence, repair, ...roles[k]! })
  }
  return found
}

const unweighed = (): Found => EVIDENCE_STAGES.map((stage) => [stage.number, notChecked(stage, 'the replay failed')])

/** The stages that need the policy's forward pass, by the calibration's thresholds or with their numbers alone. */
async function weighed(
  origin: GroupOrigin,
  rollouts: readonly Rollout[],
  parts: VerifyParts,
  signal: AbortSignal,
): Promise<Found> {
  const statistics = measureGroup(await weigh(origin, rollouts, parts, signal))
  const measured = EVIDENCE_STAGES.map(
    (stage): VerifiedStage => ({
      name: nameOf(stage),
      outcome: 'measured',
      detail: stage.numbers(statistics),
    }),
  )
  const { calibration } = parts
  const lines = calibration ? judged(measured, statistics, calibration) : measured
  return EVIDENCE_STAGES.map(({ number }, i) => [number, lines[i]!])
}

/** The judge names the first fault: what comes after it is not looked at. */
function judged(
  measured: readonly VerifiedStage[],
  statistics: GroupStatistics,
  { thresholds }: Calibration,
): VerifiedStage[] {
  const finding = judgeStatistics(statistics, thresholds)
  const at = finding.accepted
    ? measured.length
    : EVIDENCE_STAGES.findIndex(({ refusals }) => refusals[0] === finding.code)
  return measured.map((line, i): VerifiedStage => {
    if (i < at) return { ...line, outcome: 'ok' }
    if (i > at || finding.accepted) return { ...line, outcome: 'not checked', detail: `${measured[at]!.name} failed` }
    return { ...line, outcome: 'failed', detail: `${finding.code}: ${finding.detail}` }
  })
}
