import type { EpisodeRuntime, Rollout } from '../../rollout/episode/index.js'
import {
  type AnnouncedGroup,
  type CheckWatch,
  type ExpectedGroup,
  verifyGroupBody,
} from '../../rollout/verification/index.js'

/** A group whose body has come. */
export interface ReplayRequest {
  readonly bytes: Uint8Array
  readonly expected: ExpectedGroup
  /** null: it is judged on its body alone. */
  readonly announced: AnnouncedGroup | null
  /** What its terms name as its reward. */
  readonly reward: string
}

/** Where the stages are run that need a group's body and nothing else. */
export interface Replays {
  /** Groups at a time; more would wait for one another. */
  readonly atOnce: number
  /**
   * @returns  the rollouts as replayed
   * @throws SwarmRefusal with the reason for the volunteer; NondeterministicEnvironments where it is not the node's fault; the signal's reason
   */
  judge(request: ReplayRequest, signal: AbortSignal): Promise<readonly Rollout[]>
}

/** In this thread, one group at a time: replaying is synchronous work in slices, and two at once would only delay each other. */
export const replaysHere = (replayContextOf: (reward: string) => EpisodeRuntime, watch: CheckWatch): Replays => ({
  atOnce: 1,
  judge: ({ bytes, expected, announced, reward }, signal) =>
    verifyGroupBody(bytes, expected, replayContextOf(reward), signal, { announced, watch }),
})
