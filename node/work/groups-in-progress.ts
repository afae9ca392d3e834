/** How the work on a lease ended. */
export type GroupEnd =
  /** The group is in the outbox, or its lease is over or given back. */
  | { readonly type: 'done' }
  /** Leases end before this machine finishes their groups. */
  | { readonly type: 'too-slow'; readonly why: string }
  | { readonly type: 'failed'; readonly error: unknown }

/** The groups that a node generates at the same time, under one policy. */
export interface GroupsInProgress {
  readonly leaseIds: readonly string[]
  /** Fires when a group ended otherwise than `done`: the node begins no other one before `drain`. */
  readonly stopped: AbortSignal
  /** @param work  its rejection counts as `failed` */
  begin(leaseId: string, work: () => Promise<GroupEnd>): void
  /** Returns a signal that fires when the next group ends. */
  next(): AbortSignal
  /** Resolves when no group is in progress. */
  settled(): Promise<void>
  /**
   * Waits like `settled`, and starts a new count.
   * @returns the number of groups that are `done` since the last call, and the first end of another kind
   */
  drain(): Promise<{ readonly done: number; readonly stop: Exclude<GroupEnd, { type: 'done' }> | null }>
}

/** @param meanwhile  runs while groups are in progress, until its signal fires; never rejects */
export function createGroupsInProgress(meanwhile: (signal: AbortSignal) => Promise<void>): GroupsInProgress {
  const leaseIds = new Set<string>()
  let stopped = new AbortController()
  let stop: Exclude<GroupEnd, { type: 'done' }> | null = null
  let done = 0
  let ended = new AbortController()
  let all: Promise<unknown> = Promise.resolve()
  let background = { stop: new AbortController(), over: Promise.resolve() }

  const make = async (leaseId: string, work: () => Promise<GroupEnd>): Promise<void> => {
    const end = await work().catch((error: unknown): GroupEnd => ({ type: 'failed', error }))
    if (end.type === 'done') done += 1
    else {
      stop ??= end
      stopped.abort(new Error(`a group ended: ${end.type}`))
    }
    leaseIds.delete(leaseId)
    if (leaseIds.size === 0) {
      background.stop.abort()
      await background.over
    }
    const over = ended
    ended = new AbortController()
    over.abort(new Error('a group ended'))
  }

  const settled = async (): Promise<void> => {
    for (let known: unknown = null; known !== all; ) {
      known = all
      await known
    }
  }

  return {
    get leaseIds() {
      return [...leaseIds]
    },
    get stopped() {
      return stopped.signal
    },
    begin(leaseId, work) {
      if (leaseIds.size === 0) {
        const over = new AbortController()
        background = { stop: over, over: meanwhile(over.signal) }
      }
      leaseIds.add(leaseId)
      all = Promise.all([all, make(leaseId, work)])
    },
    next: () => ended.signal,
    settled,
    async drain() {
      await settled()
      const result = { done, stop }
      stopped = new AbortController()
      stop = null
      done = 0
      return result
    },
  }
}
