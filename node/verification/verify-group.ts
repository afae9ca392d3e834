import { countOf } from '../../common/errors/index.js'
import { SwarmRefusal } from '../../proto/index.js'
import type { Engine } from '../../rollout/engine/index.js'
import { EpisodeError, type EpisodeRuntime, parseTask, type Rollout, type Task } from '../../rollout/episode/index.js'
import {
  AUDIT_CHECKS,
  BODY_CHECKS,
  type Calibration,
  CHECKS,
  type CheckNumber,
  type CheckOutcome,
  type CheckWatch,
  drawsOf,
  type GroupStatistics,
  leaseSeed,
  measureGroup,
  rolesOf,
  roundSecretHash,
  type SampledToken,
  UNWATCHED,
  type VerificationCheck,
  verifyGroupBody,
  verifyStatistics,
} from '../../rollout/verification/index.js'
import { NodeError } from '../report/errors.js'
import type { ClosedRound, GroupOrigin, KeptGroup } from '../store/kept-group.js'

/** A stage of judging (docs/protocol.md, "Judging") done at home, or the check of the lease's seed. */
export interface VerifiedCheck {
  readonly name: string
  /** `measured`: there are numbers, but no calibration to judge them by. `not checked`: `detail` says why. */
  readonly outcome: 'ok' | 'failed' | 'measured' | 'not checked'
  readonly detail: string
}

export interface VerifyParts {
  /** Worlds, tokenizer and template of the group's policy. */
  readonly replayContext: EpisodeRuntime
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
export async function verifyGroup(group: KeptGroup, parts: VerifyParts, signal: AbortSignal): Promise<VerifiedCheck[]> {
  const seed = checkSeed(group.origin, parts.closedRounds)
  const [read, rollouts] = await replayAtHome(group, parts.replayContext, signal)
  const audit = rollouts === null ? unweighed() : await weighed(group.origin, rollouts, parts, signal)
  const found = new Map([...read, ...audit])
  return [seed, ...CHECKS.map((check) => found.get(check.number) ?? notChecked(check, 'only the coordinator can'))]
}

type Found = readonly (readonly [CheckNumber, VerifiedCheck])[]
type Named = Pick<VerificationCheck, 'number' | 'name'>

const nameOf = ({ number, name }: Named): string => `stage ${number}, ${name}`
const notChecked = (check: Named, detail: string): VerifiedCheck => ({
  name: nameOf(check),
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
): VerifiedCheck {
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
  replayContext: EpisodeRuntime,
  signal: AbortSignal,
): Promise<[Found, readonly Rollout[] | null]> {
  const { lease, limits } = origin
  const { leaseId, policyId, groupSize } = lease
  const expected = { leaseId, policyId, task: taskOf(lease.task), groupSize, limits }
  const ended = new Map<CheckNumber, CheckOutcome>()
  const watch: CheckWatch = { ...UNWATCHED, onCheck: (number, outcome) => ended.set(number, outcome) }
  const linesWith = (ok: string, failed: string): Found =>
    BODY_CHECKS.map((check) => {
      const outcome = ended.get(check.number)
      if (outcome === undefined) return [check.number, notChecked(check, 'an earlier stage failed')]
      const passed = outcome === 'passed'
      return [check.number, { name: nameOf(check), outcome: passed ? 'ok' : 'failed', detail: passed ? ok : failed }]
    })
  try {
    const rollouts = await verifyGroupBody(body, expected, replayContext, signal, { watch })
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
  { engine, replayContext }: VerifyParts,
  signal: AbortSignal,
): Promise<SampledToken[]> {
  const seed = Buffer.from(lease.seed, 'hex')
  const found: SampledToken[] = []
  for (const [index, rollout] of rollouts.entries()) {
    const { tokens, mask, logprobs, promptLength } = rollout
    const own = drawsOf(rollout, seed, index, limits)
    let next = 0
    const draws = Array.from(mask.subarray(promptLength), (bit) => (bit === 1 ? own[next++]! : null))
    const weighed = await engine.scoreTokens(tokens, promptLength, signal, draws)
    const sampled = weighed.filter((_, i) => mask[promptLength + i] === 1)
    const roles = rolesOf(rollout, replayContext)
    for (const [k, { logprob, expectedMismatch, logitError }] of sampled.entries())
      found.push({ claimed: logprobs[k]!, logp: logprob, expectedMismatch, logitError, ...roles[k]! })
  }
  return found
}

const unweighed = (): Found => AUDIT_CHECKS.map((check) => [check.number, notChecked(check, 'the replay failed')])

/** The stages that need the policy's forward pass, by the calibration's thresholds or with their numbers alone. */
async function weighed(
  origin: GroupOrigin,
  rollouts: readonly Rollout[],
  parts: VerifyParts,
  signal: AbortSignal,
): Promise<Found> {
  const statistics = measureGroup(await weigh(origin, rollouts, parts, signal))
  const measured = AUDIT_CHECKS.map(
    (check): VerifiedCheck => ({
      name: nameOf(check),
      outcome: 'measured',
      detail: check.numbers(statistics),
    }),
  )
  const { calibration } = parts
  const lines = calibration ? judged(measured, statistics, calibration) : measured
  return AUDIT_CHECKS.map(({ number }, i) => [number, lines[i]!])
}

/** The judge names the first fault: what comes after it is not looked at. */
function judged(
  measured: readonly VerifiedCheck[],
  statistics: GroupStatistics,
  { thresholds }: Calibration,
): VerifiedCheck[] {
  const finding = verifyStatistics(statistics, thresholds)
  const at = finding.accepted ? measured.length : AUDIT_CHECKS.findIndex(({ refusals }) => refusals[0] === finding.code)
  return measured.map((line, i): VerifiedCheck => {
    if (i < at) return { ...line, outcome: 'ok' }
    if (i > at || finding.accepted) return { ...line, outcome: 'not checked', detail: `${measured[at]!.name} failed` }
    return { ...line, outcome: 'failed', detail: `${finding.code}: ${finding.detail}` }
  })
}
