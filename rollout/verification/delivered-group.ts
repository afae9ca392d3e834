import type { GroupAnnouncement, GroupBody } from '../../proto/index.js'
import type { EpisodeLimits, EpisodeRuntime, Rollout, Task } from '../episode/index.js'

/** The group that a lease asks for. */
export interface ExpectedGroup {
  readonly leaseId: string
  readonly policyId: string
  readonly task: Task
  readonly groupSize: number
  readonly limits: EpisodeLimits
}

/** The claims of an announcement about its group. */
export type AnnouncedGroup = Pick<GroupAnnouncement, 'rewards' | 'tokensGenerated'>

/** A group whose body was received, with the results of the checks so far. */
export interface DeliveredGroup {
  /** The bytes as received, or the parsed body. */
  readonly content: Uint8Array | GroupBody
  readonly expected: ExpectedGroup
  /** null: only the body is verified. */
  readonly announced: AnnouncedGroup | null
  /** Replay context: environments, tokenizer and chat template of the group's policy. */
  readonly replayContext: EpisodeRuntime
  /** The parsed body, set by check 1. */
  body: GroupBody | null
  /** The replayed rollouts, set by check 3. */
  replayed: readonly Rollout[]
}

/** Returns the body of a group that has passed check 1. @throws TypeError before that: checks run in the order of their table */
export function bodyOf({ body }: DeliveredGroup): GroupBody {
  if (body === null) throw new TypeError('a check that needs the body ran before check 1, which parses it')
  return body
}
