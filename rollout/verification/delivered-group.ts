import type { GroupAnnouncement, GroupBody } from '../../proto/index.js'
import type { EpisodeLimits, EpisodeRuntime, Rollout, Task } from '../episode/index.js'

/** What a group must be, as the lease that asked for it says. */
export interface ExpectedGroup {
  readonly leaseId: string
  readonly policyId: string
  readonly task: Task
  readonly groupSize: number
  readonly limits: EpisodeLimits
}

/** What was said of a group before its body came. */
export type AnnouncedGroup = Pick<GroupAnnouncement, 'rewards' | 'tokensGenerated'>

/** A group whose body has come, and what the stages that read it have found so far. */
export interface DeliveredGroup {
  /** As it came, or read already. */
  readonly content: Uint8Array | GroupBody
  readonly expected: ExpectedGroup
  /** null: it is judged on its body alone. */
  readonly announced: AnnouncedGroup | null
  /** Where its episodes are played again: worlds, tokenizer and template of its policy. */
  readonly replayContext: EpisodeRuntime
  /** The content, once stage 1 has read it. */
  body: GroupBody | null
  /** The rollouts as replayed by stage 3; none before. */
  replayed: readonly Rollout[]
}

/** The body of a group that stage 1 has passed. @throws TypeError before that: stages run in the order of their table */
export function bodyOf({ body }: DeliveredGroup): GroupBody {
  if (body === null) throw new TypeError('a stage that needs the body ran before the one that reads it')
  return body
}
