import { FAR_OFF, learningRateFor, sizeOf } from '../settings/learning-rates.js'
import { absenceText } from './absence-words.js'
import type { RunReport } from './run-report.js'
import { strainText } from './strain-words.js'
import type { VersionReport } from './version-report.js'

export const ALARM_CODES = [
  ...(['no_volunteers', 'strained'] as const),
  ...(['nothing_solved', 'no_calls', 'little_reward', 'mostly_zero_variance', 'mostly_refused'] as const),
  ...(['calls_run_away', 'rollouts_cut', 'steps_skipped', 'reward_falls'] as const),
  'learning_rate',
] as const

/** A reason why a run learns nothing, or is about to. */
export interface Alarm {
  readonly code: (typeof ALARM_CODES)[number]
  /** Text that says what was observed and what the operator can do. */
  readonly text: string
}

/** Thresholds of alarms. */
export const ALARM_LIMITS = {
  /** Fewest groups for a statement: of 16 groups that vary in half of all cases, fewer than 3 vary once in 500 times. */
  groups: 16,
  /** Largest share of zero-variance groups. The others make batches correspondingly expensive. */
  zeroVarianceShare: 0.8,
  /** Honest volunteers are only refused for being late; a tenth would already be much. */
  refusedShare: 0.3,
  /** Growth of calls per rollout since version 0: a policy that is rewarded for calls learns to make more. */
  callsGrowth: 1.75,
  /** Consecutive steps without an update: one may be a bad batch, three indicate a wrong setting. */
  skippedSteps: 3,
  /** Versions on each side of the comparison, and the largest fall of the mean reward as a share of it, which may be negative. */
  window: 4,
  rewardFall: 0.15,
  /** Fewest groups of a dry run: when half of all groups vary, 6 of 6 have zero variance once in 64 times. */
  rehearsedGroups: 6,
  /** Largest share of rollouts without a call: even a model that writes calls omits some. */
  silentShare: 0.5,
  /** Presets reach 1.3 and 1. The demo model earns 0.83 with its own tasks and 0.19 with those of all environments, mostly by making no call. */
  littleReward: 0.25,
  /** Largest share of rollouts that ended at a length limit. */
  cutShare: 0.3,
  /** Largest ratio of calls to calls of the ground truth: the reward's budget is 1.5. */
  callsBeyondNeed: 3,
} as const

/** Returns the alarms of a run, the most informative first. */
export function alarmsOf(run: RunReport): Alarm[] {
  const { versions, accepted, refused: reasons } = run
  const refused = [...reasons.values()].reduce((sum, count) => sum + count, 0)
  const work = workOf(run)
  const alarms: (Alarm | null)[] = [
    noVolunteers(run),
    strained(run),
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

/** Groups by which alarms are decided. */
interface Work {
  /** Description, after "of". */
  readonly name: string
  readonly groups: number
  readonly zeroVariance: number
  /** Mean over rollouts; null: unknown. */
  readonly solved: number | null
  readonly reward: number | null
}

/** Returns the newest groups of volunteers, or the dry run while there are too few; null: too few of either. */
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

/** Returns the dry run while the groups of volunteers are too few. */
function rehearsalOf({ rehearsal, versions }: RunReport): RunReport['rehearsal'] {
  return rehearsal && rehearsal.groups >= ALARM_LIMITS.rehearsedGroups && !newest(versions) ? rehearsal : null
}

/** Returns the newest versions with enough groups. */
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

/** Returns a mean weighted by groups, over the versions with a value. */
function mean(versions: readonly VersionReport[], of: (version: VersionReport) => number | null): number | null {
  const known = versions.filter((version) => of(version) !== null)
  const groups = sum(known, ({ accepted }) => accepted)
  return groups === 0 ? null : sum(known, (version) => of(version)! * version.accepted) / groups
}

function noVolunteers({ unattended, versions, configuration, orders }: RunReport): Alarm | null {
  const isComplete = versions.length > (configuration?.versions ?? Number.POSITIVE_INFINITY)
  if (!unattended || isComplete || orders.pause) return null
  return { code: 'no_volunteers', text: absenceText(unattended) }
}

function strained({ strain, versions, configuration, orders }: RunReport): Alarm | null {
  const isComplete = versions.length > (configuration?.versions ?? Number.POSITIVE_INFINITY)
  if (!strain || isComplete || orders.pause) return null
  return { code: 'strained', text: strainText(strain) }
}

function nothingSolved(work: Work | null): Alarm | null {
  if (work?.solved !== 0) return null
  const text = `no rollout of ${work.name} has solved its task: the model may not know the language or the tool-call format of the tasks. Try prove-lab eval, or easier tasks.`
  return { code: 'nothing_solved', text }
}

function noCalls(run: RunReport): Alarm | null {
  const played = rehearsalOf(run)
  if (!played || played.silent <= ALARM_LIMITS.silentShare * played.asked) return null
  const text = `${played.silent} of ${played.asked} rollouts of the dry run made no call although their tasks need some: the model may not use the tool-call format ${run.configuration?.toolCallFormat ?? 'of base.toolCallFormat'}, or may not know tools. Check base.toolCallFormat, or teach version 0 of a new run with prove-coordinator warm-start.`
  return { code: 'no_calls', text }
}

function littleReward(work: Work | null): Alarm | null {
  if (!work || work.reward === null || work.reward >= ALARM_LIMITS.littleReward) return null
  const text = `rollouts of ${work.name} earn ${work.reward.toFixed(3)} on average, of 1 or more, which is mostly noise for training. Teach version 0 of a new run with prove-coordinator warm-start, or choose easier tasks, or a model that solves some.`
  return { code: 'little_reward', text }
}

function mostlyZeroVariance(work: Work | null): Alarm | null {
  if (!work || work.groups === 0 || work.zeroVariance / work.groups <= ALARM_LIMITS.zeroVarianceShare) return null
  const text = `${work.zeroVariance} of ${work.name} have zero reward variance and give no gradient: the tasks are too hard or too easy for this model, or groupSize is too small.`
  return { code: 'mostly_zero_variance', text }
}

function rolloutsCut(run: RunReport): Alarm | null {
  const played = rehearsalOf(run)
  if (!played || played.cut <= ALARM_LIMITS.cutShare * played.rollouts) return null
  const text = `${played.cut} of ${played.rollouts} rollouts of the dry run ended at a length limit: raise limits.maxTurnTokens or limits.maxRolloutTokens.`
  return { code: 'rollouts_cut', text }
}

function callsBeyondNeed(run: RunReport): Alarm | null {
  const played = rehearsalOf(run)
  if (!played || played.calls <= ALARM_LIMITS.callsBeyondNeed * Math.max(played.callsDue, played.rollouts)) return null
  const per = (calls: number): string => (calls / played.rollouts).toFixed(1)
  const text = `rollouts of the dry run make ${per(played.calls)} calls each, but their tasks need ${per(played.callsDue)}: the model does not stop calling. Use a model that was trained on tool calls.`
  return { code: 'calls_run_away', text }
}

/** Checks the learning rate. Logs of earlier versions do not contain the size of the base model. */
function learningRate({ configuration }: RunReport): Alarm | null {
  const lr = configuration?.training.optimizer?.lr
  const parameters = configuration?.base.parameters
  if (lr === undefined || parameters === undefined) return null
  const { lr: usual } = learningRateFor(parameters)
  if (lr <= usual * FAR_OFF && lr >= usual / FAR_OFF) return null
  const text = `the learning rate ${lr} is far from the usual one for a model of ${sizeOf(parameters)} parameters: begin with ${usual} (docs/reference/trainer.md).`
  return { code: 'learning_rate', text }
}

function mostlyRefused(accepted: number, refused: number, reasons: RunReport['refused']): Alarm | null {
  const all = accepted + refused
  if (all < ALARM_LIMITS.groups || refused / all <= ALARM_LIMITS.refusedShare) return null
  const [[code, count]] = [...reasons].sort(([, a], [, b]) => b - a) as [[string, number]]
  const text = `${refused} of ${all} groups were refused, ${count} of them as ${code}: docs/reference/verdicts.md explains each reason.`
  return { code: 'mostly_refused', text }
}

function stepsSkipped(versions: readonly VersionReport[]): Alarm | null {
  const last = versions.slice(-ALARM_LIMITS.skippedSteps)
  if (last.length < ALARM_LIMITS.skippedSteps || !last.every(({ skipped }) => skipped)) return null
  const text = `the last ${last.length} steps made no update: the trainer's lines say why. A lower learning rate often helps.`
  return { code: 'steps_skipped', text }
}

/** Returns a mean; null: too few groups to compare. */
const meanOf: typeof mean = (versions, of) =>
  sum(versions, (version) => (of(version) === null ? 0 : version.accepted)) < ALARM_LIMITS.groups
    ? null
    : mean(versions, of)

function rewardFalls(versions: readonly VersionReport[]): Alarm | null {
  const { window } = ALARM_LIMITS
  const before = meanOf(versions.slice(-2 * window, -window), ({ reward }) => reward)
  const now = meanOf(versions.slice(-window), ({ reward }) => reward)
  if (before === null || now === null || before - now <= Math.abs(before) * ALARM_LIMITS.rewardFall) return null
  const text = `the mean reward has fallen from ${before.toFixed(3)} to ${now.toFixed(3)} within ${2 * window} versions: try a lower learning rate.`
  return { code: 'reward_falls', text }
}

function callsRunAway(versions: readonly VersionReport[]): Alarm | null {
  const first = meanOf(versions.slice(0, ALARM_LIMITS.window), ({ calls }) => calls)
  const now = meanOf(versions.slice(-ALARM_LIMITS.window), ({ calls }) => calls)
  if (first === null || now === null || first === 0 || now / first <= ALARM_LIMITS.callsGrowth) return null
  const text = `rollouts make ${now.toFixed(1)} calls each, but made ${first.toFixed(1)} at the beginning: the reward may pay for useless calls. Look at some with prove-coordinator groups list.`
  return { code: 'calls_run_away', text }
}
