import { expandMask, groupBody, SwarmRefusal } from '../../proto/index.js'
import { drawsOf } from '../../rollout/verification/index.js'
import { BodyError, type GroupBodies } from '../intake/group-bodies.js'
import type { BatchGroup } from '../jobs/batch-folder.js'
import type { LeaseRecord, RunState } from '../ledger/run-state.js'

/** The groups of a batch whose bodies could be read. */
export interface ReadGroups {
  /** In the order of the leases. */
  readonly groups: readonly BatchGroup[]
  /** Leases whose bodies are lost, with the reason. If empty, `groups` is complete. */
  readonly lost: ReadonlyMap<string, BodyError>
}

/**
 * Reads the groups of a batch as they were verified: tokens, mask and log-probabilities from the bodies, rewards from the verdicts.
 * Nothing is replayed again. The verdict contains the rewards of a replay that matched these bytes exactly.
 * @param leaseIds  of accepted groups whose bodies were verified
 * @param isUnaudited  whether a group is written with its draws, see `BatchGroup`
 * @throws the signal's reason
 */
export async function readBatchGroups(
  leaseIds: readonly string[],
  state: Pick<RunState, 'leases' | 'judged' | 'roundOf'>,
  bodies: Pick<GroupBodies, 'read'>,
  isUnaudited: (lease: LeaseRecord) => boolean,
  signal: AbortSignal,
): Promise<ReadGroups> {
  // All at once, so that the waits for lost bodies overlap.
  const read = await Promise.all(
    leaseIds.map((leaseId) =>
      readGroup(leaseId, state, bodies, isUnaudited, signal).catch((why: unknown) => {
        if (why instanceof BodyError) return why
        throw why
      }),
    ),
  )
  const lost = new Map<string, BodyError>()
  const groups: BatchGroup[] = []
  for (const [i, group] of read.entries()) {
    if (group instanceof BodyError) lost.set(leaseIds[i]!, group)
    else groups.push(group)
  }
  return { groups, lost }
}

async function readGroup(
  leaseId: string,
  state: Pick<RunState, 'leases' | 'judged' | 'roundOf'>,
  bodies: Pick<GroupBodies, 'read'>,
  isUnaudited: (lease: LeaseRecord) => boolean,
  signal: AbortSignal,
): Promise<BatchGroup> {
  const lease = state.leases.get(leaseId)!
  const { node, version, backend } = lease
  const verdict = state.judged.get(leaseId)!
  const { rollouts } = parseBody(await bodies.read(verdict, signal), leaseId)
  const { rewards } = verdict
  if (rollouts.length !== rewards.length)
    throw new BodyError(
      'body_lost',
      `group ${leaseId}: ${rollouts.length} rollouts, but a verdict with ${rewards.length} rewards`,
    )
  const trained = rollouts.map(({ tokens, maskRuns, logprobs }, i) => ({
    tokens,
    mask: expandMask(maskRuns),
    logprobs,
    reward: rewards[i]!,
  }))
  const draws = (): BatchGroup['draws'] => {
    const { limits } = state.roundOf(lease).configuration
    return trained.map((rollout, i) => drawsOf(rollout, Buffer.from(lease.seed, 'hex'), i, limits))
  }
  return {
    leaseId,
    supplier: node,
    policyVersion: version,
    sampler: backend,
    rollouts: trained,
    draws: isUnaudited(lease) ? draws() : null,
  }
}

function parseBody(bytes: Uint8Array, leaseId: string) {
  try {
    return groupBody.parse(bytes)
  } catch (cause) {
    if (!(cause instanceof SwarmRefusal)) throw cause
    throw new BodyError('body_lost', `group ${leaseId}: the stored bytes are no group body: ${cause.message}`, {
      cause,
    })
  }
}
