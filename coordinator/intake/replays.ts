import type { EpisodeRuntime, Rollout } from '../../rollout/episode/index.js'
import {
  type AnnouncedGroup,
  type CheckWatch,
  type ExpectedGroup,
  verifyGroupBody,
} from '../../rollout/verification/index.js'

/** A group to replay. */
export interface ReplayRequest {
  readonly bytes: Uint8Array
  readonly expected: ExpectedGroup
  /** null: only the body is checked. */
  readonly announced: AnnouncedGroup | null
  /** Reward preset of its run configuration. */
  readonly reward: string
}

/** Runs the verification checks that need only a group's body. */
export interface Replays {
  /** Number of concurrent replays. */
  readonly atOnce: number
  /**
   * Replays a group.
   * @returns  the rollouts as replayed
   * @throws SwarmRefusal with the reason for the volunteer; `NondeterministicEnvironments` if an environment is nondeterministic; the signal's reason
   */
  judge(request: ReplayRequest, signal: AbortSignal): Promise<readonly Rollout[]>
}

/** Replays in this thread, one group at a time. Replaying is synchronous work in slices, so concurrency would only add delay. */
export const replaysHere = (replayContextOf: (reward: string) => EpisodeRuntime, watch: CheckWatch): Replays => ({
  atOnce: 1,
  judge: ({ bytes, expected, announced, reward }, signal) =>
    verifyGroupBody(bytes, expected, replayContextOf(reward), signal, { announced, watch }),
})
