import { CodedError } from '../../errors/index.js'
import { drawsOf } from '../../judging/index.js'
import { expandMask, type GroupBody, groupBody, SwarmRefusal, sha256 } from '../../proto/index.js'
import type { BlobStore } from '../../swarm/index.js'
import type { LeaseRecord, RunState } from '../ledger/run-state.js'
import type { BatchGroup } from '../spool/batch-folder.js'

/** What the log says of an accepted group and what is on disk are no longer the same. */
export class BodyError extends CodedError<'body_missing' | 'body_damaged'> {}

/**
 * The groups of a batch as they were judged: tokens, mask and log-probabilities from the bodies, rewards from the verdicts.
 * Nothing is replayed. The verdict was given on a replay that agreed with these very bytes without tolerance, and it holds the
 * rewards that came out.
 * @param leaseIds  of accepted groups whose bodies were judged; the groups come in this order
 * @param isUnaudited  whether a group is to go with its draws, see `BatchGroup`
 * @throws BodyError for a body that is gone or bent; the signal's reason
 */
export async function readBatchGroups(
  leaseIds: readonly string[],
  state: Pick<RunState, 'leases' | 'judged' | 'roundOf'>,
  bodies: Pick<BlobStore, 'read'>,
  isUnaudited: (lease: LeaseRecord) => boolean,
  signal: AbortSignal,
): Promise<BatchGroup[]> {
  const groups: BatchGroup[] = []
  for (const leaseId of leaseIds) {
    signal.throwIfAborted()
    const lease = state.leases.get(leaseId)!
    const { bodySha256, rewards } = state.judged.get(leaseId)!
    const bytes = await bodies.read(bodySha256)
    if (!bytes) throw new BodyError('body_missing', `group ${leaseId}: no body ${bodySha256}`)
    const { rollouts } = parseBody(bytes, bodySha256, leaseId)
    if (rollouts.length !== rewards.length) {
      const numbers = `${rollouts.length} rollouts, judged with ${rewards.length} rewards`
      throw new BodyError('body_damaged', `group ${leaseId}: ${numbers}`)
    }
    const trained = rollouts.map(({ tokens, maskRuns, logprobs }, i) => ({
      tokens,
      mask: expandMask(maskRuns),
      logprobs,
      reward: rewards[i]!,
    }))
    const draws = (): number[][] => {
      const { limits } = state.roundOf(lease).terms
      return trained.map((rollout, i) => drawsOf(rollout, Buffer.from(lease.seed, 'hex'), i, limits))
    }
    groups.push({
      leaseId,
      policyVersion: lease.version,
      sampler: lease.backend,
      rollouts: trained,
      draws: isUnaudited(lease) ? draws() : null,
    })
  }
  return groups
}

/** @throws BodyError when the file under a hash is not what was judged under it: disks forget, and so do backups */
function parseBody(bytes: Uint8Array, bodySha256: string, leaseId: string): GroupBody {
  const actual = sha256(bytes)
  if (actual !== bodySha256) throw new BodyError('body_damaged', `group ${leaseId}: ${actual} lies under ${bodySha256}`)
  try {
    return groupBody.parse(bytes)
  } catch (cause) {
    if (!(cause instanceof SwarmRefusal)) throw cause
    throw new BodyError('body_damaged', `group ${leaseId}: ${cause.message}`, { cause })
  }
}
