import type { Clock } from '../../swarm/index.js'
import type { EventOf, Strain } from '../ledger/events.js'

/** Samples of a run: verdicts and connections in steps of five seconds, for ten minutes. */
export interface Activity {
  /** Counts a verdict on a group. */
  group(): void
  /** Notes the connections and the capacity of this moment. */
  look(now: { readonly peers: number; readonly hasCapacity: boolean }): void
  /** Returns how many connections are missing of the usual number. */
  gone(): number
  /** Finished steps, oldest first. */
  readonly steps: readonly Step[]
  readonly peers: number
}

interface Step {
  groups: number
  peers: number
  /** Whether leases were to be had for the whole step. */
  hasCapacity: boolean
}

const STEP_MS = 5000
const MOST_STEPS = 120
/** Least history for a statement. */
const LEAST_STEPS = 24

export function createActivity(clock: Pick<Clock, 'elapsedMs'>): Activity {
  const steps: Step[] = []
  let current: Step = { groups: 0, peers: 0, hasCapacity: true }
  let endsMs = clock.elapsedMs() + STEP_MS
  const finish = (): void => {
    // After a sleep of this machine, only the steps that count are added.
    for (let missed = 0; clock.elapsedMs() >= endsMs && missed < MOST_STEPS; missed++) {
      steps.push(current)
      if (steps.length > MOST_STEPS) steps.shift()
      current = { groups: 0, peers: current.peers, hasCapacity: true }
      endsMs += STEP_MS
    }
    endsMs = Math.max(endsMs, clock.elapsedMs())
  }
  const activity: Activity = {
    steps,
    get peers() {
      return current.peers
    },
    group() {
      finish()
      current.groups += 1
    },
    look({ peers, hasCapacity }) {
      finish()
      current.peers = peers
      current.hasCapacity &&= hasCapacity
    },
    gone: () => Math.max(0, usualPeers(steps) - current.peers),
  }
  return activity
}

const usualPeers = (steps: readonly Step[]): number => {
  const sorted = steps.map(({ peers }) => peers).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

/** Connections fell if so many steps in a row have at most this share of the usual number, which is at least four. */
const FALLEN_STEPS = 3
const FALLEN_PEERS = 1 / 3
const FEWEST_PEERS = 4

export function connectionFall({ steps, peers }: Activity): Strain | null {
  if (steps.length < LEAST_STEPS) return null
  const usual = usualPeers(steps)
  const isFallen = (count: number): boolean => count <= usual * FALLEN_PEERS
  if (usual < FEWEST_PEERS || !isFallen(peers) || !steps.slice(-FALLEN_STEPS).every((step) => isFallen(step.peers)))
    return null
  return { what: 'connections', before: usual, now: peers }
}

/** Lengths (steps) of the time that is compared with the time before: 45 s, and longer in runs with few groups. */
const WINDOWS = [9, 18, 36]
/** Share of the usual number of groups that is a fall, and the share at which it is over. */
const FALLEN_GROUPS = 1 / 4
const RECOVERED_GROUPS = 1 / 2
/** Fewest groups that are expected in the window: of 8, chance leaves 2 or fewer once in 70 times. */
const FEWEST_GROUPS = 8
const STEPS_PER_MINUTE = 60_000 / STEP_MS

/**
 * Compares the groups of the last window with those of the time before. Where a new version or the trainer makes groups wait regularly, such a
 * pause is usual: a fall has fewer groups than half of the weakest window before.
 * @param strain  the fall on record, with the usual number before it
 */
export function groupFall({ steps }: Activity, strain: EventOf<'strained'> | null): Strain | null {
  const groupsIn = (from: number, length: number): number =>
    steps.slice(from, from + length).reduce((sum, { groups }) => sum + groups, 0)
  if (strain?.what === 'groups') {
    const [window] = WINDOWS.filter((length) => (strain.before / STEPS_PER_MINUTE) * length >= FEWEST_GROUPS)
    const length = Math.min(steps.length, window ?? WINDOWS.at(-1)!)
    const now = (groupsIn(steps.length - length, length) / length) * STEPS_PER_MINUTE
    return now < RECOVERED_GROUPS * strain.before ? { what: 'groups', before: strain.before, now } : null
  }
  for (const length of WINDOWS) {
    const before = steps.length - length
    if (before < Math.max(LEAST_STEPS, 2 * length)) return null
    const usual = (groupsIn(0, before) / before) * length
    if (usual < FEWEST_GROUPS) continue
    const recent = steps.slice(-length)
    if (!recent.every(({ hasCapacity }) => hasCapacity)) return null
    const now = groupsIn(before, length)
    const weakest = Math.min(...Array.from({ length: before - length + 1 }, (_, from) => groupsIn(from, length)))
    if (now > usual * FALLEN_GROUPS || now >= weakest / 2) continue
    const perMinute = STEPS_PER_MINUTE / length
    return { what: 'groups', before: usual * perMinute, now: now * perMinute }
  }
  return null
}
