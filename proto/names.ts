/**
 * What a run speaks in all: streams, topics and messages. An invitation says it, so that a program of another version is told so
 * before it dials. Raised with every change after which older programs could not take part.
 */
export const PROTOCOL_VERSION = 2

/** The first version of this package that speaks it. */
export const PROTOCOL_NEEDS = '0.1.0'

/** Names of the streams. The version is part of the name: a change of the wire format gets a new one. */
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

/** Gossip topics of one run. @param runId  peer id of the run's coordinator */
export const topicsOf = (runId: string): TopicNames => ({
  policy: `/prove/${runId}/policy/3`,
  groups: `/prove/${runId}/groups/1`,
  verdicts: `/prove/${runId}/verdicts/1`,
  addresses: `/prove/${runId}/addresses/1`,
})
