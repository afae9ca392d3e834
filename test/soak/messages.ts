/** Messages between the soak and the process under load. */

/** Requests to the process under load. */
export type Order = 'sample' | 'restart' | 'stop'

/** The state of the process under load at one moment, after a full collection. */
export interface Sample {
  readonly type: 'sample'
  readonly heapBytes: number
  readonly rssBytes: number
  /** Sockets, timers and other handles that keep a process alive. */
  readonly handles: number
  readonly connections: number
  readonly streams: number
  /** Number of events in the log. They stay in memory by design. */
  readonly records: number
}

/** The current policy: sent at the start, after every publication and after a restart. */
export interface InForce {
  readonly type: 'in-force'
  readonly address: string
  readonly runId: string
  readonly policyId: string
}

export type Report = Sample | InForce
