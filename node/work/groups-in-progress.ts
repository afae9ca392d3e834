/** The groups that a node makes at the same time, under one policy. */
export interface GroupsInProgress {
  readonly count: number
  /** Fires when one has failed, with its error: no other one is to be begun. */
  readonly broken: AbortSignal
  begin(work: () => Promise<void>): void
  /** Fires when one of those in hand now is done or has failed, with `GROUP_DONE`. */
  next(): AbortSignal
  /** Resolves when none is in hand. @throws the first failure */
  settled(): Promise<void>
}

export const GROUP_DONE = new Error('a group is done')

/** @param meanwhile  what is done as long as there are some, until its signal fires; never rejects */
export function createGroupsInProgress(meanwhile: (signal: AbortSignal) => Promise<void>): GroupsInProgress {
  const broken = new AbortController()
  let count = 0
  let done = new AbortController()
  let all: Promise<unknown> = Promise.resolve()
  let beside = { stop: new AbortController(), over: Promise.resolve() }

  const make = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      broken.abort(error)
    }
    count -= 1
    if (count === 0) {
      beside.stop.abort()
      await beside.over
    }
    const over = done
    done = new AbortController()
    over.abort(GROUP_DONE)
  }

  return {
    get count() {
      return count
    },
    broken: broken.signal,
    begin(work) {
      if (count === 0) {
        const stop = new AbortController()
        beside = { stop, over: meanwhile(stop.signal) }
      }
      count += 1
      all = Promise.all([all, make(work)])
    },
    next: () => done.signal,
    async settled() {
      for (let known: unknown = null; known !== all; ) {
        known = all
        await known
      }
      broken.signal.throwIfAborted()
    },
  }
}
