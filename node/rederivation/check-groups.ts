import { type BatchContent, type BatchGroup, batchHashes } from '../../coordinator/jobs/batch-folder.js'
import { expandMask, groupBody, SwarmRefusal, sha256, type TrainingRecord } from '../../proto/index.js'
import { EpisodeError, type EpisodeRuntime, parseTask, type Rollout, type Task } from '../../rollout/episode/index.js'
import {
  type Calibration,
  CalibrationError,
  drawsOf,
  measureGroup,
  NondeterministicEnvironments,
  parseCalibration,
  type SampledToken,
  verifyGroupBody,
  verifyStatistics,
} from '../../rollout/verification/index.js'
import type { LeasedGroup } from './check-record.js'
import type { Derivation } from './published-version.js'
import { DoesNotFollow, type PassedCheck } from './verdict.js'

/** A group whose replay gave the recorded rewards. */
export interface ReplayedGroup extends LeasedGroup {
  readonly rollouts: readonly Rollout[]
  /** Calibration with which its draws are checked; null: the run has none for its backend. */
  readonly calibration: Calibration | null
}

/** Reason why a group was left out whose own verdict names none. */
const KEY_IN_DOUBT = 'key_in_doubt'

/**
 * Replays every body with the checks of the coordinator, and compares the rewards exactly.
 * @param runtimeOf  returns environments, tokenizer and template for the rules of a run configuration
 * @throws DoesNotFollow `rewards`
 */
export async function replayGroups(
  groups: readonly LeasedGroup[],
  record: TrainingRecord,
  runtimeOf: (rules: { readonly toolCallFormat: string; readonly reward: string }) => EpisodeRuntime,
  signal: AbortSignal,
): Promise<readonly [PassedCheck, readonly ReplayedGroup[]]> {
  const calibrations = readCalibrations(record)
  const replayed: ReplayedGroup[] = []
  for (const leased of groups) {
    const { group, body, configuration, policyId, rewards } = leased
    const { leaseId, backend } = group
    const fail = (detail: string): DoesNotFollow =>
      new DoesNotFollow('rewards', `the group of lease ${leaseId}: ${detail}`)
    const { groupSize, limits } = configuration
    const task = taskOf(record.tasks[group.taskIndex]!, fail)
    try {
      const expected = { leaseId, policyId, task, groupSize, limits }
      const rollouts = await verifyGroupBody(body, expected, runtimeOf(configuration), signal)
      const wrong = rollouts.findIndex(({ reward }, i) => reward.total !== rewards[i])
      if (rewards.length !== rollouts.length) throw fail(`${rollouts.length} rollouts with ${rewards.length} rewards`)
      if (wrong !== -1)
        throw fail(
          `the replay of rollout ${wrong} earns ${rollouts[wrong]!.reward.total}, recorded is ${rewards[wrong]}`,
        )
      const calibration = calibrations.get(configuration.audit.calibrations[backend] ?? '') ?? null
      replayed.push({ ...leased, rollouts, calibration })
    } catch (why) {
      if (why instanceof SwarmRefusal) throw fail(`${why.code}: ${why.detail}`)
      if (why instanceof NondeterministicEnvironments) throw fail(why.message)
      throw why
    }
  }
  const rollouts = replayed.reduce((sum, group) => sum + group.rollouts.length, 0)
  return [{ check: 'rewards', detail: `${rollouts} rollouts replayed, with equal rewards` }, replayed]
}

function taskOf(json: string, fail: (detail: string) => DoesNotFollow): Task {
  try {
    return parseTask(JSON.parse(json))
  } catch (why) {
    if (!(why instanceof EpisodeError) && !(why instanceof SyntaxError)) throw why
    throw fail(`its task is invalid: ${why.message}`)
  }
}

function readCalibrations({ calibrations }: TrainingRecord): ReadonlyMap<string, Calibration> {
  const found = new Map<string, Calibration>()
  for (const [hash, text] of Object.entries(calibrations)) {
    if (sha256(new TextEncoder().encode(text)) !== hash)
      throw new DoesNotFollow('rewards', `the calibration ${hash} has another hash`)
    try {
      found.set(hash, parseCalibration(text))
    } catch (why) {
      if (!(why instanceof CalibrationError)) throw why
      throw new DoesNotFollow('rewards', `the calibration ${hash} is unreadable: ${why.message}`)
    }
  }
  return found
}

/** Returns the content of the batch as the trainer got it, or, for a check of all draws, with the draws of all groups. */
export function batchOf(
  groups: readonly ReplayedGroup[],
  record: TrainingRecord,
  baseSha256: string,
  isWithDraws: (group: ReplayedGroup) => boolean,
): BatchContent {
  return {
    batchId: record.batchId,
    roundId: `round-${record.step}`,
    baseSha256,
    parentStep: record.step - 1,
    ...(record.backTo === null ? {} : { backTo: record.backTo }),
    groups: groups.map((group) => batchGroup(group, isWithDraws(group))),
  }
}

function batchGroup({ group, body, seed, configuration, rewards }: ReplayedGroup, isWithDraws: boolean): BatchGroup {
  const rollouts = groupBody.parse(body).rollouts.map(({ tokens, maskRuns, logprobs }, i) => ({
    ...{ tokens, mask: expandMask(maskRuns), logprobs },
    reward: rewards[i]!,
  }))
  const draws = () => rollouts.map((rollout, i) => drawsOf(rollout, seed, i, configuration.limits))
  return {
    leaseId: group.leaseId,
    supplier: group.node,
    policyVersion: group.version,
    sampler: group.backend,
    rollouts,
    draws: isWithDraws ? draws() : null,
  }
}

/** Checks that the trainer got exactly the batch that follows from the bodies. @throws DoesNotFollow */
export function checkBatch(
  groups: readonly ReplayedGroup[],
  record: TrainingRecord,
  baseSha256: string,
  { batch }: Derivation,
): PassedCheck {
  const { manifestSha256, tokensSha256 } = batchHashes(
    batchOf(groups, record, baseSha256, ({ group }) => group.unaudited),
  )
  if (tokensSha256 !== batch.tokensSha256)
    throw new DoesNotFollow('batch', 'the trainer got other tokens than those of the bodies')
  if (manifestSha256 !== batch.manifestSha256)
    throw new DoesNotFollow('batch', 'the trainer got other rewards, versions or groups than those of the record')
  return { check: 'batch', detail: `${groups.length} groups, equal to the byte` }
}

/**
 * Checks that the sampled tokens follow from the seeds. Each group that was left out must fail a check, or its key was in doubt.
 * @param scoresOf  token scores of a group under the policy that sampled it; null: they were not computed
 * @throws DoesNotFollow `draws`
 */
export function checkDraws(
  groups: readonly ReplayedGroup[],
  scoresOf: (leaseId: string) => readonly SampledToken[] | null,
): PassedCheck {
  let [confirmed, unchecked, claimed] = [0, 0, 0]
  for (const { group, calibration } of groups) {
    const scores = scoresOf(group.leaseId)
    if (scores === null || calibration === null) {
      unchecked += 1
      continue
    }
    const finding = verifyStatistics(measureGroup(scores), calibration.thresholds)
    if (group.leftOut === null && !finding.accepted)
      throw new DoesNotFollow('draws', `the group of lease ${group.leaseId}: ${finding.code}: ${finding.detail}`)
    if (group.leftOut === KEY_IN_DOUBT) claimed += 1
    else if (group.leftOut !== null && finding.accepted)
      throw new DoesNotFollow(
        'draws',
        `the group of lease ${group.leaseId} was left out as ${group.leftOut}, but passes`,
      )
    confirmed += 1
  }
  const notes = [
    `${confirmed} groups sampled by their seeds, or left out for good reason`,
    ...(claimed > 0 ? [`${claimed} left out because of their keys, which this step cannot show`] : []),
    ...(unchecked > 0 ? [`${unchecked} not checked`] : []),
  ]
  return { check: 'draws', detail: notes.join('; ') }
}
