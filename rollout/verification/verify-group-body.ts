import type { GroupBody } from '../../proto/index.js'
import type { EpisodeRuntime, Rollout } from '../episode/index.js'
import { BODY_CHECKS, type CheckWatch, runChecks, UNWATCHED } from './checks.js'
import type { AnnouncedGroup, DeliveredGroup, ExpectedGroup } from './delivered-group.js'

export interface VerifyGroupBodyOptions {
  /** What was announced, where the body is held against that too. */
  readonly announced?: AnnouncedGroup | null
  readonly watch?: CheckWatch
}

/**
 * The stages that need the body and nothing else, in the order of their table.
 * @param content  the body, or its bytes as they came
 * @returns the rollouts as replayed: the coordinator trains on these, never on what was claimed
 * @throws SwarmRefusal with the reason for the volunteer; `UnstableWorlds` where it is not the node's fault
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
