import { expandMask, groupBody, SwarmRefusal } from '../../proto/index.js'
import { BodyError, type GroupBodies } from '../intake/group-bodies.js'
import type { RunState } from '../ledger/run-state.js'
import type { BatchGroup } from '../spool/batch-folder.js'

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
 * @throws the signal's reason
 */
export async function readBatchGroups(
  leaseIds: readonly string[],
  state: Pick<RunState, 'leases' | 'judged'>,
  bodies: Pick<GroupBodies, 'read'>,
  signal: AbortSignal,
): Promise<ReadGroups> {
  // All at once: what is lost is waited for together.
  const read = await Promise.all(
    leaseIds.map((leaseId) =>
      readGroup(leaseId, state, bodies, signal).catch((why: unknown) => {
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
  { leases, judged }: Pick<RunState, 'leases' | 'judged'>,
  bodies: Pick<GroupBodies, 'read'>,
  signal: AbortSignal,
): Promise<BatchGroup> {
  const { node, version, backend } = leases.get(leaseId)!
  const verdict = judged.get(leaseId)!
  const { rollouts } = parseBody(await bodies.read(verdict, signal), leaseId)
  const { rewards } = verdict
  if (rollouts.length !== rewards.length)
    throw new BodyError(
      'body_lost',
      `group ${leaseId}: ${rollouts.length} rollouts, judged with ${rewards.length} rewards`,
    )
  return {
    leaseId,
    supplier: node,
    policyVersion: version,
    sampler: backend,
    rollouts: rollouts.map(({ tokens, maskRuns, logprobs }, i) => ({
      tokens,
      mask: expandMask(maskRuns),
      logprobs,
      reward: rewards[i]!,
    })),
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
