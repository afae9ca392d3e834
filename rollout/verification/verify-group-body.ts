import type { GroupBody } from '../../proto/index.js'
import type { EpisodeRuntime, Rollout } from '../episode/index.js'
import { BODY_CHECKS, type CheckWatch, runChecks, UNWATCHED } from './checks.js'
import type { AnnouncedGroup, DeliveredGroup, ExpectedGroup } from './delivered-group.js'

export interface VerifyGroupBodyOptions {
  /** The announcement, if the body must agree with it. */
  readonly announced?: AnnouncedGroup | null
  readonly watch?: CheckWatch
}

/**
 * Runs the checks that need only the body, in the order of their table.
 * @param content  the body, or its bytes as received
 * @returns the replayed rollouts: the coordinator trains on these, never on claims
 * @throws SwarmRefusal with the reason for the volunteer; NondeterministicEnvironments if an environment is at fault
 */
export async function verifyGroupBody(
  content: GroupBody | Uint8Array,
  expected: ExpectedGroup,
  replayContext: EpisodeRuntime,
  signal: AbortSignal,
  { announced = null, watch = UNWATCHED }: VerifyGroupBodyOptions = {},
): Promise<readonly Rollout[]> {
  const group: DeliveredGroup = { content, expected, announced, replayContext, body: null, replayed: [] }
  await runChecks(BODY_CHECKS, group, watch, signal)
  return group.replayed
}
