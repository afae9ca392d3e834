import type { RunReport } from './run-report.js'
import type { VersionReport } from './version-report.js'

export const ALARM_CODES = [
  ...(['nothing_solved', 'mostly_flat', 'mostly_refused'] as const),
  ...(['calls_run_away', 'steps_skipped', 'reward_falls'] as const),
] as const

/** A run that goes on and gets nowhere, or is about to. */
export interface Alarm {
  readonly code: (typeof ALARM_CODES)[number]
  /** What was seen, and what can be done about it. */
  readonly text: string
}

/** When a run is said to get nowhere. */
export const ALARM_LIMITS = {
  /** Fewer groups than these say little: of 16 groups that vary in half of all cases, fewer than 3 do so once in 500 times. */
  groups: 16,
  /** Most groups without reward variance. What is left makes batches this many times as dear. */
  flatShare: 0.8,
  /** Honest volunteers are refused for being late at most; a tenth is already much. */
  refusedShare: 0.3,
  /** Calls of a rollout against those of version 0: a policy that is paid for calls learns to make more of them. */
  callsGrowth: 1.75,
  /** Steps in a row that changed nothing: one may be a bad batch, three are a setting. */
  skippedSteps: 3,
  /** Versions on each side of the comparison, and how much less the newer ones may earn. */
  window: 4,
  rewardFall: 0.15,
} as const

/** What an operator should know of a run before anybody works on for it, the most telling first. */
export function alarmsOf({ versions, accepted, refused: reasons }: RunReport): Alarm[] {
  const refused = [...reasons.values()].reduce((sum, count) => sum + count, 0)
  const alarms: (Alarm | null)[] = [
    nothingSolved(versions),
    mostlyFlat(versions),
    mostlyRefused(accepted, refused, reasons),
    stepsSkipped(versions),
    rewardFalls(versions),
    callsRunAway(versions),
  ]
  return alarms.filter((alarm) => alarm !== null)
}

/** The newest versions that hold enough groups between them. */
function newest(versions: readonly VersionReport[]): readonly VersionReport[] | null {
  let groups = 0
  for (let from = versions.length - 1; from >= 0; from--) {
    groups += versions[from]!.accepted
    if (groups >= ALARM_LIMITS.groups) return versions.slice(from)
  }
  return null
}

const sum = (versions: readonly VersionReport[], of: (version: VersionReport) => number): number =>
  versions.reduce((total, version) => total + of(version), 0)

function nothingSolved(versions: readonly VersionReport[]): Alarm | null {
  const recent = newest(versions)?.filter(({ solved }) => solved !== null) ?? []
  if (recent.length === 0 || recent.some(({ solved }) => solved! > 0)) return null
  const text = `no rollout of the last ${sum(recent, ({ accepted }) => accepted)} accepted groups has solved its task. Does the model speak the tasks' language? Try prove-lab eval, or easier tasks.`
  return { code: 'nothing_solved', text }
}

function mostlyFlat(versions: readonly VersionReport[]): Alarm | null {
  const recent = newest(versions) ?? []
  const groups = sum(recent, ({ accepted }) => accepted)
  const flat = sum(recent, (version) => version.flat)
  if (groups === 0 || flat / groups <= ALARM_LIMITS.flatShare) return null
  const text = `${flat} of the last ${groups} accepted groups have no reward variance and teach nothing: the tasks are too hard or too easy for this model, or groupSize is too small.`
  return { code: 'mostly_flat', text }
}

function mostlyRefused(accepted: number, refused: number, reasons: RunReport['refused']): Alarm | null {
  const all = accepted + refused
  if (all < ALARM_LIMITS.groups || refused / all <= ALARM_LIMITS.refusedShare) return null
  const [[code, count]] = [...reasons].sort(([, a], [, b]) => b - a) as [[string, number]]
  const text = `${refused} of ${all} groups were refused, ${count} of them as ${code}. docs/verdicts.md says what each reason means.`
  return { code: 'mostly_refused', text }
}

function stepsSkipped(versions: readonly VersionReport[]): Alarm | null {
  const last = versions.slice(-ALARM_LIMITS.skippedSteps)
  if (last.length < ALARM_LIMITS.skippedSteps || !last.every(({ skipped }) => skipped)) return null
  const text = `the last ${last.length} steps have changed nothing: the policy stands still. The trainer's lines say why; a lower learning rate often helps.`
  return { code: 'steps_skipped', text }
}

/** Means over the rollouts of several versions, weighted by groups. */
function meanOf(versions: readonly VersionReport[], of: (version: VersionReport) => number | null): number | null {
  const known = versions.filter((version) => of(version) !== null)
  const groups = sum(known, ({ accepted }) => accepted)
  return groups < ALARM_LIMITS.groups ? null : sum(known, (version) => of(version)! * version.accepted) / groups
}

function rewardFalls(versions: readonly VersionReport[]): Alarm | null {
  const { window } = ALARM_LIMITS
  const before = meanOf(versions.slice(-2 * window, -window), ({ reward }) => reward)
  const now = meanOf(versions.slice(-window), ({ reward }) => reward)
  if (before === null || now === null || now >= before * (1 - ALARM_LIMITS.rewardFall)) return null
  const text = `the mean reward has fallen from ${before.toFixed(3)} to ${now.toFixed(3)} within ${2 * window} versions: the learning rate may be too high.`
  return { code: 'reward_falls', text }
}

function callsRunAway(versions: readonly VersionReport[]): Alarm | null {
  const first = meanOf(versions.slice(0, ALARM_LIMITS.window), ({ calls }) => calls)
  const now = meanOf(versions.slice(-ALARM_LIMITS.window), ({ calls }) => calls)
  if (first === null || now === null || first === 0 || now / first <= ALARM_LIMITS.callsGrowth) return null
  const text = `rollouts make ${now.toFixed(1)} calls each, ${first.toFixed(1)} at the beginning: look at some with prove-coordinator groups list, the reward may pay for calls that serve nothing.`
  return { code: 'calls_run_away', text }
}
