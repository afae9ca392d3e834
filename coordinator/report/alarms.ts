import { FAR_OFF, learningRateFor, sizeOf } from '../settings/learning-rates.js'
import type { RunReport } from './run-report.js'
import type { VersionReport } from './version-report.js'

export const ALARM_CODES = [
  ...(['nothing_solved', 'no_calls', 'little_reward', 'mostly_zero_variance', 'mostly_refused'] as const),
  ...(['calls_run_away', 'rollouts_cut', 'steps_skipped', 'reward_falls'] as const),
  'learning_rate',
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
  zeroVarianceShare: 0.8,
  /** Honest volunteers are refused for being late at most; a tenth is already much. */
  refusedShare: 0.3,
  /** Calls of a rollout against those of version 0: a policy that is paid for calls learns to make more of them. */
  callsGrowth: 1.75,
  /** Steps in a row that changed nothing: one may be a bad batch, three are a setting. */
  skippedSteps: 3,
  /** Versions on each side of the comparison, and how much less the newer ones may earn: a share of what was earned, which may be below 0. */
  window: 4,
  rewardFall: 0.15,
  /** Groups of a dry run: when half of all groups vary, 6 of 6 are flat once in 64 times. */
  rehearsedGroups: 6,
  /** A model that writes calls at all is silent now and then. */
  silentShare: 0.5,
  /** Presets reach 1.3 and 1. The demo model earns 0.83 with its own tasks and 0.19 with those of all worlds, mostly by calling nothing. */
  littleReward: 0.25,
  /** Turns without an end are not scored for what they would have done. */
  cutShare: 0.3,
  /** Calls against those of the ground truth: the reward's budget is one and a half times. */
  callsBeyondNeed: 3,
} as const

/** What an operator should know of a run before anybody works on for it, the most telling first. */
export function alarmsOf(run: RunReport): Alarm[] {
  const { versions, accepted, refused: reasons } = run
  const refused = [...reasons.values()].reduce((sum, count) => sum + count, 0)
  const work = workOf(run)
  const alarms: (Alarm | null)[] = [
    nothingSolved(work),
    noCalls(run),
    littleReward(work),
    mostlyZeroVariance(work),
    mostlyRefused(accepted, refused, reasons),
    rolloutsCut(run),
    stepsSkipped(versions),
    rewardFalls(versions),
    callsRunAway(versions) ?? callsBeyondNeed(run),
    learningRate(run),
  ]
  return alarms.filter((alarm) => alarm !== null)
}

/** Groups that say how the run goes. */
interface Work {
  /** Which they are, after "of". */
  readonly name: string
  readonly groups: number
  readonly zeroVariance: number
  /** Mean over rollouts. Null: not known. */
  readonly solved: number | null
  readonly reward: number | null
}

/** The dry run, until there are enough groups of volunteers; null: too few of either. */
function workOf(run: RunReport): Work | null {
  const recent = newest(run.versions)
  if (recent) {
    const groups = sum(recent, ({ accepted }) => accepted)
    return {
      ...{ name: `the last ${groups} accepted groups`, groups },
      zeroVariance: sum(recent, ({ zeroVariance }) => zeroVariance),
      solved: mean(recent, ({ solved }) => solved),
      reward: mean(recent, ({ reward }) => reward),
    }
  }
  const played = rehearsalOf(run)
  if (!played) return null
  const { groups, zeroVariance, solved, rollouts, reward } = played
  return { name: `the dry run's ${groups} groups`, groups, zeroVariance, solved: solved / rollouts, reward }
}

/** The dry run as long as it says more than the groups of volunteers. */
function rehearsalOf({ rehearsal, versions }: RunReport): RunReport['rehearsal'] {
  return rehearsal && rehearsal.groups >= ALARM_LIMITS.rehearsedGroups && !newest(versions) ? rehearsal : null
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

/** Weighted by groups, over the versions that know it. */
function mean(versions: readonly VersionReport[], of: (version: VersionReport) => number | null): number | null {
  const known = versions.filter((version) => of(version) !== null)
  const groups = sum(known, ({ accepted }) => accepted)
  return groups === 0 ? null : sum(known, (version) => of(version)! * version.accepted) / groups
}

function nothingSolved(work: Work | null): Alarm | null {
  if (work?.solved !== 0) return null
  const text = `no rollout of ${work.name} has solved its task. Does the model speak the tasks' language? Try prove-lab eval, or easier tasks.`
  return { code: 'nothing_solved', text }
}

function noCalls(run: RunReport): Alarm | null {
  const played = rehearsalOf(run)
  if (!played || played.silent <= ALARM_LIMITS.silentShare * played.asked) return null
  const text = `${played.silent} of ${played.asked} rollouts of the dry run made no call although their tasks need some: the model may write calls in another way than ${run.configuration?.toolCallFormat ?? 'base.toolCallFormat says'}, or does not know tools.`
  return { code: 'no_calls', text }
}

function littleReward(work: Work | null): Alarm | null {
  if (!work || work.reward === null || work.reward >= ALARM_LIMITS.littleReward) return null
  const text = `rollouts of ${work.name} earn ${work.reward.toFixed(3)} on average, of 1 or more: what is learned from that is mostly noise. Begin with easier tasks or a model that solves some.`
  return { code: 'little_reward', text }
}

function mostlyZeroVariance(work: Work | null): Alarm | null {
  if (!work || work.groups === 0 || work.zeroVariance / work.groups <= ALARM_LIMITS.zeroVarianceShare) return null
  const text = `${work.zeroVariance} of ${work.name} have no reward variance and teach nothing: the tasks are too hard or too easy for this model, or groupSize is too small.`
  return { code: 'mostly_zero_variance', text }
}

function rolloutsCut(run: RunReport): Alarm | null {
  const played = rehearsalOf(run)
  if (!played || played.cut <= ALARM_LIMITS.cutShare * played.rollouts) return null
  const text = `${played.cut} of ${played.rollouts} rollouts of the dry run ended for want of room: raise limits.maxTurnTokens or limits.maxRolloutTokens.`
  return { code: 'rollouts_cut', text }
}

function callsBeyondNeed(run: RunReport): Alarm | null {
  const played = rehearsalOf(run)
  if (!played || played.calls <= ALARM_LIMITS.callsBeyondNeed * Math.max(played.callsDue, played.rollouts)) return null
  const per = (calls: number): string => (calls / played.rollouts).toFixed(1)
  const text = `rollouts of the dry run make ${per(played.calls)} calls each, and their tasks need ${per(played.callsDue)}: the model does not know when to stop.`
  return { code: 'calls_run_away', text }
}

/** Terms of earlier versions of the program do not say the size of the base. */
function learningRate({ configuration }: RunReport): Alarm | null {
  const lr = configuration?.training.optimizer?.lr
  const parameters = configuration?.base.parameters
  if (lr === undefined || parameters === undefined) return null
  const { lr: usual } = learningRateFor(parameters)
  if (lr <= usual * FAR_OFF && lr >= usual / FAR_OFF) return null
  const text = `the learning rate ${lr} is far from what a model of ${sizeOf(parameters)} parameters is trained with: begin with ${usual} (docs/trainer.md).`
  return { code: 'learning_rate', text }
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

/** Null where there are too few groups to compare. */
const meanOf: typeof mean = (versions, of) =>
  sum(versions, (version) => (of(version) === null ? 0 : version.accepted)) < ALARM_LIMITS.groups
    ? null
    : mean(versions, of)

function rewardFalls(versions: readonly VersionReport[]): Alarm | null {
  const { window } = ALARM_LIMITS
  const before = meanOf(versions.slice(-2 * window, -window), ({ reward }) => reward)
  const now = meanOf(versions.slice(-window), ({ reward }) => reward)
  if (before === null || now === null || before - now <= Math.abs(before) * ALARM_LIMITS.rewardFall) return null
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
