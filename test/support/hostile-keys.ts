import type { ServiceRun } from './lease-service-run.js'

/**
 * What hostile keys do with leases. `idle`: hold them until they lapse. `renew`: the same, and renew them for as long as possible.
 * `slow-holder`: deliver one quick group, hold leases for as long as possible, give all but one back, and deliver that one. `seed-chooser`:
 * abandon leases whose seeds do not suit them, and work honestly on the others.
 */
export type HostileHabit = 'idle' | 'renew' | 'slow-holder' | 'seed-chooser'

export interface HostileKeysParts {
  readonly run: ServiceRun
  readonly names: readonly string[]
  readonly blockOf: (node: string) => string
  readonly between: (bounds: readonly [number, number]) => number
  /** Time for an honest group. */
  readonly groupMs: readonly [number, number]
  readonly perNode: number
  /** Time at which the keys join. */
  readonly fromMs: number
}

/** Keys of an attacker, on the simulated clock of a run. */
export interface HostileKeys {
  /** Number of leases that they got. */
  readonly leases: number
  /** Number of leases that they abandoned, counted each time. */
  readonly abandoned: number
  /** Does what is due now. */
  act(): Promise<void>
}

/** Pauses between requests of a key. An attacker has many keys, and each key has a separate limit. */
const ASKS_EVERY_MS = 10_000
/** The same where a key loses something by waiting. */
const EAGER_ASKS_EVERY_MS = 2000
/** Time for a group that only serves to be accepted. */
const QUICK_GROUP_MS = 2000
/** A lease ends for good after four durations of three minutes. */
const HELD_MS = 4 * 180_000 - 15_000
/** Share of its leases that a `seed-chooser` abandons, in percent. */
const DROPPED_PERCENT = 52

interface HostileKey {
  readonly name: string
  askMs: number
  /** End of the work on a group; null: none in progress. */
  doneMs: number | null
  /** Leases that suit the key. */
  readonly wanted: Set<string>
  readonly refused: Set<string>
}

/**
 * Asks for leases up to a number. A key that has to register for the next round gets the same answer as any key without a lease.
 * @returns  number of new leases
 */
export async function askUpTo(run: ServiceRun, node: string, count: number): Promise<number> {
  const held = run.recorder.state.openLeasesOf(node).size
  if (held >= count) return 0
  const answer = await run.ask(node, { count: count - held }).catch((why: { code?: string }) => {
    if (why.code !== 'rate_limited') throw why
    return { leases: [] }
  })
  return answer.leases.length
}

export function createHostileKeys(habit: HostileHabit, parts: HostileKeysParts): HostileKeys {
  const { run, names, blockOf, between, groupMs, perNode, fromMs } = parts
  const { clock, leases: service } = run
  const { state } = run.recorder
  const keys = names.map(
    (name): HostileKey => ({
      name,
      askMs: fromMs + between([0, 60_000]),
      doneMs: null,
      wanted: new Set(),
      refused: new Set(),
    }),
  )
  const counts = { leases: 0, abandoned: 0 }

  const take = async (key: HostileKey, count: number): Promise<void> => {
    counts.leases += await askUpTo(run, key.name, count)
  }
  const renewAll = async ({ name }: HostileKey): Promise<void> => {
    const leaseIds = [...state.openLeasesOf(name).keys()]
    if (leaseIds.length > 0) await service.answer({ kind: 'renew', leaseIds }, name)
  }
  const deliver = async ({ name }: HostileKey, leaseId: string): Promise<void> => {
    if (state.openLeases.has(leaseId)) await run.deliver(leaseId, { addressBlock: blockOf(name) })
  }

  const giveBack = async ({ name }: HostileKey, leaseId: string): Promise<void> => {
    counts.abandoned += 1
    await service.answer({ kind: 'return', leaseIds: [leaseId], reason: 'shutdown' }, name)
  }

  const hold = async (key: HostileKey, isRenewing: boolean): Promise<void> => {
    await take(key, perNode)
    if (isRenewing) await renewAll(key)
  }

  /** Keeps its record: one of the leases that are about to end is delivered, after the others were given back. */
  const holdAsProven = async (key: HostileKey): Promise<void> => {
    const isProven = state.kindOf(key.name) === 'proven'
    if (isProven) await hold(key, true)
    else await take(key, 1)
    const [last, ...others] = [...state.openLeasesOf(key.name).values()]
    if (!last) return
    const heldMs = clock.now() - last.atMs
    if (heldMs < (isProven ? HELD_MS : QUICK_GROUP_MS)) return
    if (isProven) for (const { leaseId } of others) await giveBack(key, leaseId)
    await deliver(key, last.leaseId)
  }

  const choose = async (key: HostileKey): Promise<void> => {
    await take(key, perNode)
    for (const leaseId of [...state.openLeasesOf(key.name).keys()]) {
      if (!key.wanted.has(leaseId) && !key.refused.has(leaseId))
        (between([1, 100]) <= DROPPED_PERCENT ? key.refused : key.wanted).add(leaseId)
      if (!key.refused.has(leaseId)) continue
      await giveBack(key, leaseId)
    }
  }
  const workOnChosen = async (key: HostileKey): Promise<void> => {
    const chosen = [...key.wanted].find((leaseId) => state.openLeases.has(leaseId))
    if (chosen === undefined) return
    if (key.doneMs === null) key.doneMs = clock.now() + between(groupMs)
    else if (clock.now() >= key.doneMs) {
      key.doneMs = null
      await deliver(key, chosen)
    }
  }

  const isChooser = habit === 'seed-chooser'
  return {
    get leases() {
      return counts.leases
    },
    get abandoned() {
      return counts.abandoned
    },
    async act() {
      for (const key of keys) {
        if (isChooser) await workOnChosen(key)
        if (clock.now() < key.askMs) continue
        key.askMs += isChooser || habit === 'slow-holder' ? EAGER_ASKS_EVERY_MS : ASKS_EVERY_MS
        if (isChooser) await choose(key)
        else if (habit === 'slow-holder') await holdAsProven(key)
        else await hold(key, habit === 'renew')
      }
    },
  }
}
