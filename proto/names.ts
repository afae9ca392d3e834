/**
 * Version of the whole protocol: streams, topics and messages. An invitation contains it, so that a program of another version reports
 * the difference before it dials. Raise it with every change that excludes older programs.
 */
export const PROTOCOL_VERSION = 2

/** The first version of this package that speaks the protocol version. */
export const PROTOCOL_NEEDS = '0.1.0'

/** Names of the stream protocols. The version is part of the name and changes with the wire format. */
export const PROTOCOLS = {
  lease: '/prove/lease/3',
  group: '/prove/group/1',
  snapshot: '/prove/snapshot/2',
  verdict: '/prove/verdict/1',
  leaderboard: '/prove/leaderboard/1',
} as const
export type ProtocolName = keyof typeof PROTOCOLS

export interface TopicNames {
  readonly policy: string
  readonly groups: string
  readonly verdicts: string
  readonly addresses: string
}

/** Returns the gossip topics of a run. @param runId  peer id of the run's coordinator */
export const topicsOf = (runId: string): TopicNames => ({
  policy: `/prove/${runId}/policy/3`,
  groups: `/prove/${runId}/groups/1`,
  verdicts: `/prove/${runId}/verdicts/1`,
  addresses: `/prove/${runId}/addresses/1`,
})
