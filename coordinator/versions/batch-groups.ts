import { expandMask, groupBody, SwarmRefusal } from '../../proto/index.js'
import { drawsOf } from '../../rollout/verification/index.js'
import { BodyError, type GroupBodies } from '../intake/group-bodies.js'
import type { BatchGroup } from '../jobs/batch-folder.js'
import type { LeaseRecord, RunState } from '../ledger/run-state.js'

/** What there is of a batch. */
export interface ReadGroups {
  /** In the order of the leases. */
  readonly groups: readonly BatchGroup[]
  /** Leases whose bodies are gone, and why. Without any, `groups` are all. */
  readonly lost: ReadonlyMap<string, BodyError>
}

/**
 * The groups of a batch as they were judged: tokens, mask and log-probabilities from the bodies, rewards from the verdicts.
 * Nothing is replayed. The verdict was given on a replay that agreed with these very bytes without tolerance, and it holds the
 * rewards that came out.
 * @param leaseIds  of accepted groups whose bodies were judged
 * @param isUnaudited  whether a group is to go with its draws, see `BatchGroup`
 * @throws the signal's reason
 */
export async function readBatchGroups(
  leaseIds: readonly string[],
  state: Pick<RunState, 'leases' | 'judged' | 'roundOf'>,
  bodies: Pick<GroupBodies, 'read'>,
  isUnaudited: (lease: LeaseRecord) => boolean,
  signal: AbortSignal,
): Promise<ReadGroups> {
  // All at once: what is lost is waited for together.
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
      `group ${leaseId}: ${rollouts.length} rollouts, judged with ${rewards.length} rewards`,
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
    throw new BodyError('body_lost', `group ${leaseId}: what was judged is no group body: ${cause.message}`, { cause })
  }
}
