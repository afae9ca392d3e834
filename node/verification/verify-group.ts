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

/** Result of a verification check, or of the check of the lease's seed. */
export interface VerifiedCheck {
  readonly name: string
  /** `measured`: numbers without a calibration to compare with. `not checked`: `detail` states the reason. */
  readonly outcome: 'ok' | 'failed' | 'measured' | 'not checked'
  readonly detail: string
}

export interface VerifyParts {
  /** Environments, tokenizer and template of the group's policy. */
  readonly replayContext: EpisodeRuntime
  /** An engine with the group's policy. */
  readonly engine: Engine
  /** Calibration for the engine's backend; null: the audit checks only show numbers. */
  readonly calibration: Calibration | null
  /** Closed rounds of the newest manifest on record. */
  readonly closedRounds: readonly ClosedRound[]
}

/**
 * Verifies a group with the coordinator's checks, on the node's own engine. Checks that need groups of other nodes, or the coordinator's
 * leases, are reported as not checked.
 * @returns the check of the seed, and one result for each verification check
 * @throws NodeError `bad_lease` for an invalid task; EngineError
 */
export async function verifyGroup(group: KeptGroup, parts: VerifyParts, signal: AbortSignal): Promise<VerifiedCheck[]> {
  const seed = checkSeed(group.origin, parts.closedRounds)
  const [read, rollouts] = await replay(group, parts.replayContext, signal)
  const audited = rollouts === null ? withoutAudit() : await audit(group.origin, rollouts, parts, signal)
  const found = new Map([...read, ...audited])
  return [
    seed,
    ...CHECKS.map((check) => found.get(check.number) ?? notChecked(check, 'only the coordinator can do this check')),
  ]
}

type Found = readonly (readonly [CheckNumber, VerifiedCheck])[]
type Named = Pick<VerificationCheck, 'number' | 'name'>

const nameOf = ({ number, name }: Named): string => `check ${number}, ${name}`
const notChecked = (check: Named, detail: string): VerifiedCheck => ({
  name: nameOf(check),
  outcome: 'not checked',
  detail,
})

/**
 * Checks that the coordinator derived the seed from a secret to which it had committed. A later round of the same policy reuses the seed of
 * a lease that was given back.
 */
export function checkSeed(
  { lease, peerId, round, roundSecretHash: hash }: GroupOrigin,
  closed: readonly ClosedRound[],
): VerifiedCheck {
  const name = 'lease seed'
  const own = closed.find((other) => other.round === round)
  if (own && roundSecretHash(Buffer.from(own.secret, 'hex')) !== hash)
    return { name, outcome: 'failed', detail: `the secret of round ${round} does not fit its published hash` }
  const source = closed.find(
    (other) =>
      other.round <= round &&
      leaseSeed(Buffer.from(other.secret, 'hex'), lease.policyId, peerId, lease.index).toString('hex') === lease.seed,
  )
  if (source) return { name, outcome: 'ok', detail: `derived from the secret of round ${source.round}` }
  if (own) return { name, outcome: 'failed', detail: `not derived from the secret of round ${round}` }
  return { name, outcome: 'not checked', detail: `no manifest on record contains the secret of round ${round}` }
}

/** Runs the checks of the body. @returns the results, and the rollouts if all checks passed */
async function replay(
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
      if (outcome === undefined) return [check.number, notChecked(check, 'an earlier check failed')]
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

/** Scores the sampled tokens of all rollouts with the engine. */
async function scoreTokens(
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
    const scored = await engine.scoreTokens(tokens, promptLength, signal, draws)
    const sampled = scored.filter((_, i) => mask[promptLength + i] === 1)
    const roles = rolesOf(rollout, replayContext)
    for (const [k, { logprob, expectedMismatch, logitError }] of sampled.entries())
      found.push({ claimed: logprobs[k]!, logp: logprob, expectedMismatch, logitError, ...roles[k]! })
  }
  return found
}

const withoutAudit = (): Found => AUDIT_CHECKS.map((check) => [check.number, notChecked(check, 'the replay failed')])

/** Runs the checks that need the engine, with the thresholds of the calibration if there is one. */
async function audit(
  origin: GroupOrigin,
  rollouts: readonly Rollout[],
  parts: VerifyParts,
  signal: AbortSignal,
): Promise<Found> {
  const statistics = measureGroup(await scoreTokens(origin, rollouts, parts, signal))
  const measured = AUDIT_CHECKS.map(
    (check): VerifiedCheck => ({
      name: nameOf(check),
      outcome: 'measured',
      detail: check.numbers(statistics),
    }),
  )
  const { calibration } = parts
  const lines = calibration ? graded(measured, statistics, calibration) : measured
  return AUDIT_CHECKS.map(({ number }, i) => [number, lines[i]!])
}

/** Marks the results up to the first failed check. The checks after it do not run. */
function graded(
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
