import type { Engine } from '../engine/index.js'
import { EpisodeError, parseTask, type Rollout, type Stage, type Task } from '../episode/index.js'
import {
  type Calibration,
  drawsOf,
  type GroupStatistics,
  judgeGroup,
  judgeStatistics,
  leaseSeed,
  measureGroup,
  rolesOf,
  roundSecretHash,
  type SampledToken,
} from '../judging/index.js'
import { type GroupBody, groupBody, SwarmRefusal } from '../proto/index.js'
import { NodeError } from './errors.js'
import type { ClosedRound, GroupOrigin, KeptGroup } from './kept-group.js'

/** One part of the judging table (docs/protocol.md, "Judging"), done at home. */
export interface VerifiedStage {
  readonly name:
    | 'lease seed'
    | 'stages 1 to 3, replay'
    | 'stage 5, log-probabilities'
    | 'stage 6, draws'
    | 'stage 7, ends'
  /** `measured`: there are numbers, but no calibration to judge them by. `not checked`: `detail` says why. */
  readonly outcome: 'ok' | 'failed' | 'measured' | 'not checked'
  readonly detail: string
}

export interface VerifyParts {
  readonly stage: Stage
  /** Under the group's policy. */
  readonly engine: Engine
  /** For the engine's backend; null: numbers without a verdict. */
  readonly calibration: Calibration | null
  /** Of the newest manifest that was seen. */
  readonly closedRounds: readonly ClosedRound[]
}

/**
 * Judges a group as the coordinator does, with the node's own engine in the trainer's place. Stage 4 needs other nodes'
 * groups and is left out.
 * @throws NodeError `bad_lease` when its task cannot be read; EngineError
 */
export async function verifyGroup(group: KeptGroup, parts: VerifyParts, signal: AbortSignal): Promise<VerifiedStage[]> {
  const { origin } = group
  const seed = checkSeed(origin, parts.closedRounds)
  const [replay, rollouts] = await replayAtHome(group, parts.stage, signal)
  if (rollouts === null) {
    const skipped = (['stage 5, log-probabilities', 'stage 6, draws', 'stage 7, ends'] as const).map(
      (name): VerifiedStage => ({ name, outcome: 'not checked', detail: 'the replay failed' }),
    )
    return [seed, replay, ...skipped]
  }
  const statistics = measureGroup(await weigh(origin, rollouts, parts, signal))
  const { calibration } = parts
  const numeric = calibration ? judged(statistics, calibration, origin.drawsReplay) : measured(statistics)
  return [seed, replay, ...numeric]
}

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

async function replayAtHome(
  { origin, body }: KeptGroup,
  stage: Stage,
  signal: AbortSignal,
): Promise<[VerifiedStage, Rollout[] | null]> {
  const name = 'stages 1 to 3, replay'
  const { lease, limits } = origin
  try {
    const { leaseId, policyId, groupSize } = lease
    const expected = { leaseId, policyId, task: taskOf(lease.task), groupSize, limits }
    const content: GroupBody = groupBody.parse(body)
    const rollouts = await judgeGroup(content, expected, stage, signal)
    const calls = rollouts.reduce((sum, rollout) => sum + rollout.calls.length, 0)
    return [
      { name, outcome: 'ok', detail: `${rollouts.length} rollouts with ${calls} calls are the same again` },
      rollouts,
    ]
  } catch (error) {
    if (!(error instanceof SwarmRefusal)) throw error
    return [{ name, outcome: 'failed', detail: error.message }, null]
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
  { engine, stage }: VerifyParts,
  signal: AbortSignal,
): Promise<SampledToken[]> {
  const seed = Buffer.from(lease.seed, 'hex')
  const found: SampledToken[] = []
  for (const [index, rollout] of rollouts.entries()) {
    const { tokens, mask, logprobs, promptLength } = rollout
    const own = drawsOf(rollout, seed, index, limits)
    let next = 0
    const draws = Array.from(mask.subarray(promptLength), (bit) => (bit === 1 ? own[next++]! : Number.NaN))
    const places = await engine.intervals(tokens, promptLength, signal, draws)
    const sampled = places.filter((_, i) => mask[promptLength + i] === 1)
    const roles = rolesOf(rollout, stage)
    for (const [k, { logprob, entropy, variance, evidence, repair }] of sampled.entries())
      found.push({ claimed: logprobs[k]!, logp: logprob, entropy, variance, evidence, repair, ...roles[k]! })
  }
  return found
}

const NUMERIC = [
  ['logprob_mismatch', 'stage 5, log-probabilities'],
  ['sampler_mismatch', 'stage 6, draws'],
  ['implausible_end', 'stage 7, ends'],
] as const

/** By the calibration's thresholds. The judge names the first fault: what comes after it is not looked at. */
function judged(statistics: GroupStatistics, { thresholds }: Calibration, replay: boolean): VerifiedStage[] {
  const verdict = judgeStatistics(statistics, thresholds, { replay })
  const at = verdict.accepted ? NUMERIC.length : NUMERIC.findIndex(([code]) => code === verdict.code)
  return measured(statistics).map((stage, i): VerifiedStage => {
    if (i < at) return { ...stage, outcome: 'ok' }
    if (i > at || verdict.accepted) return { ...stage, outcome: 'not checked', detail: `${NUMERIC[at]![1]} failed` }
    return { ...stage, outcome: 'failed', detail: `${verdict.code}: ${verdict.detail}` }
  })
}

function measured({ all, leastEnd }: GroupStatistics): VerifiedStage[] {
  const details = [
    `${all.tokens} tokens, claims ${nats(all.deviation / all.room)} off on average, the worst ${nats(all.claims[0] ?? 0)}`,
    `${all.misses} tokens are not what their draws select, the worst by ${nats(all.repairs[0] ?? 0)}; draws of another sampler would miss about ${short(all.evidence)}`,
    `the least likely end of a turn had the probability ${short(leastEnd)}`,
  ]
  return NUMERIC.map(([, name], i) => ({ name, outcome: 'measured', detail: details[i]! }))
}

const short = (value: number): string => String(Number(value.toPrecision(3)))
const nats = (value: number): string => `${short(value)} nats`
