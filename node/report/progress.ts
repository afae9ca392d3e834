import { countOf } from '../../common/errors/index.js'
import { isRefusalCode, REFUSALS, type RefusalCode, type RefusalConsequence, type Verdict } from '../../proto/index.js'
import { type Confinement, type ConfinementLevel, type Placement, USUAL_CACHE } from '../../rollout/engine/index.js'
import { inBytes } from './in-bytes.js'
import { type JoinPlan, planText } from './join-plan.js'
import { type LeaderboardPlace, placeText } from './leaderboard-place.js'

/** An event that a node reports to its owner, or to the program that started it. */
export type NodeProgress =
  /** The plan of a run, before anything is fetched. */
  | { readonly type: 'invited'; readonly plan: JoinPlan }
  /** `share`: fetched share of the base model, 0 .. 1. */
  | { readonly type: 'fetching'; readonly share: number; readonly sizeBytes: number }
  /** The node no longer asks a peer or a URL for the base model. */
  | { readonly type: 'source-dropped'; readonly source: string; readonly detail: string }
  /** The base model is not available at the moment. The node keeps trying. */
  | { readonly type: 'base-delayed'; readonly detail: string }
  | {
      readonly type: 'ready'
      readonly peerId: string
      readonly backend: string
      /** Resources of the machine that the engine uses. */
      readonly placement: Placement
      /** Confinement of the engine's process. */
      readonly confinement: Confinement
    }
  /** The engine was reloaded for rollouts of this many tokens, or for the run's type of caches. */
  | {
      readonly type: 'refitted'
      readonly tokens: number
      readonly backend: string
      readonly placement: Placement
    }
  /** A version is loaded. `versions`: number of versions that the run plans, if it states one. */
  | { readonly type: 'policy'; readonly version: number; readonly versions: number | null; readonly policyId: string }
  /** Work on a group begins. `inProgress`: number of groups in progress, this one included. */
  | {
      readonly type: 'leased'
      readonly leaseId: string
      readonly version: number
      readonly rollouts: number
      readonly inProgress: number
    }
  | {
      readonly type: 'group'
      readonly leaseId: string
      readonly version: number
      readonly rewards: readonly number[]
      /** Tokens sampled in all rollouts, and the time of the group, which may share the engine with other groups. */
      readonly tokens: number
      readonly ms: number
      /** Number of groups still in progress. */
      readonly inProgress: number
    }
  /** `earlier`: the verdict on the same group that an audit replaced. */
  | { readonly type: 'verdict'; readonly verdict: Verdict; readonly earlier: Verdict | null }
  /** The coordinator will never accept the group. */
  | { readonly type: 'dropped'; readonly leaseId: string; readonly code: string }
  /** The node cannot reach the coordinator for some seconds, and keeps trying. `detail`: addresses and errors. */
  | { readonly type: 'offline'; readonly detail: string }
  /** The coordinator is connected again, after `offline`. */
  | { readonly type: 'online' }
  /** Several attempts in a row with a connected coordinator failed. The node keeps trying. */
  | { readonly type: 'trouble'; readonly detail: string }
  /** There is no work at the moment. `waiting`: finished groups without a verdict; reported again when a verdict arrives. */
  | { readonly type: 'idle'; readonly reason: string; readonly detail: string; readonly waiting: number }
  /** The owner or a limit pauses the node. `untilMs`: end of the pause, if known. */
  | { readonly type: 'rest'; readonly why: string; readonly untilMs: number | null }
  | { readonly type: 'resumed' }
  /** Signed announcement of the run's operator to all volunteers; null: withdrawn. */
  | { readonly type: 'announcement'; readonly text: string | null }
  /** Place of the node's key on a newer leaderboard. */
  | { readonly type: 'leaderboard'; readonly place: LeaderboardPlace }
  /** The coordinator has signed something that cannot be true. `proof`: file with both signatures; null: there is one signature. */
  | { readonly type: 'alarm'; readonly text: string; readonly proof: string | null }
  /** The node takes no more work. `waiting`: number of groups without a verdict. */
  | { readonly type: 'finishing'; readonly waiting: number }
  /** A limit that this machine cannot keep, or anything else that the owner should know. */
  | { readonly type: 'notice'; readonly text: string }

/** Formats the progress of a download. */
export const fetchingLine = ({ share, sizeBytes }: Extract<NodeProgress, { type: 'fetching' }>): string =>
  `base model: ${Math.round(100 * share)} % of ${inBytes(sizeBytes)}`

/** Formats an event as a line for the owner; null: the event is too frequent for a line. */
export function progressLine(progress: NodeProgress): string | null {
  switch (progress.type) {
    case 'invited':
      return planText(progress.plan)
    case 'fetching':
      return fetchingLine(progress)
    case 'source-dropped':
      return `no longer fetching the base model from ${progress.source}: ${progress.detail}`
    case 'base-delayed':
      return `the base model is not available now, trying again: ${progress.detail}`
    case 'ready':
      return `node ${progress.peerId}, inference on ${progress.backend} (${placementLine(progress.placement)}), ${confinementLine(progress.confinement)}`
    case 'refitted':
      return `engine reloaded for rollouts of ${progress.tokens} tokens, inference on ${progress.backend} (${placementLine(progress.placement)})`
    case 'policy':
      return `version ${progress.version}${progress.versions === null ? '' : ` of ${progress.versions}`} is loaded, and its canary passed`
    case 'group': {
      const mean = progress.rewards.reduce((sum, reward) => sum + reward, 0) / progress.rewards.length
      const speed = Math.round((1000 * progress.tokens) / Math.max(1, progress.ms))
      return `group of ${progress.rewards.length} for version ${progress.version}: mean reward ${mean.toFixed(3)}, ${speed} tokens/s`
    }
    case 'verdict':
      return verdictLine(progress.verdict, progress.earlier)
    case 'dropped':
      return `group ${progress.leaseId.slice(0, 8)} was rejected: ${explain(progress.code, '')}`
    case 'offline':
      return `cannot reach the coordinator, trying again: ${progress.detail}`
    case 'online':
      return 'the coordinator is connected again'
    case 'trouble':
      return `requests to the coordinator fail, trying again: ${progress.detail}`
    case 'idle':
      return ROUTINE.has(progress.reason) ? null : idleLine(progress.reason, progress.detail)
    case 'leased':
      return null
    case 'alarm':
      return `ALARM: ${progress.text}. See docs/use-a-model/verify-a-run.md${progress.proof === null ? '' : `; the proof is ${progress.proof}`}`
    case 'rest':
      return `paused: ${restLine(progress)}`
    case 'resumed':
      return 'working again'
    case 'announcement':
      return progress.text === null ? null : `the run's operator says: ${forTerminal(progress.text)}`
    case 'leaderboard':
      return `on the leaderboard: ${placeText(progress.place)}`
    case 'finishing':
      return `taking no more work; waiting for ${countOf(progress.waiting, 'verdict')}`
    case 'notice':
      return progress.text
  }
}

/** Formats the resources that an engine uses. */
export function placementLine({ layers, allLayers, deviceNames, mainBytes, gpuBytes, ...rest }: Placement): string {
  const { slots, contextSize, flashAttention, cacheType } = rest
  const where = layers === 0 ? [] : [`${layers} of ${allLayers} layers on ${deviceNames.join(' and ')}`]
  return [
    ...where,
    ...(flashAttention ? ['flash attention'] : []),
    ...(cacheType === USUAL_CACHE ? [] : [`caches of ${cacheType}`]),
    `${countOf(slots, 'rollout')} of ${contextSize} tokens at a time`,
    `about ${inBytes(mainBytes)} of memory${gpuBytes > 0 ? ` and ${inBytes(gpuBytes)} of the GPU's` : ''}`,
  ].join(', ')
}

const BOUNDS: Readonly<Record<ConfinementLevel, string>> = {
  files: 'in a process without network and without your files',
  network: 'in a process without network that can read your files',
  none: 'in a process with all of your rights',
}

const confinementLine = ({ level, lacks }: Confinement): string =>
  lacks.length === 0 ? BOUNDS[level] : `${BOUNDS[level]} (${lacks.join('; ')})`

/** Formats the reason and the end of a pause, in local time. */
export const restLine = ({ why, untilMs }: { readonly why: string; readonly untilMs: number | null }): string =>
  untilMs === null
    ? why
    : `${why}, until ${new Date(untilMs).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })}`

/** Texts for the reasons that every node meets. All other reasons are shown with their code. */
const EXPECTED: Readonly<Partial<Record<RefusalCode, string>>> = {
  not_registered: 'the run has registered this node; work begins with the next round, usually within seconds',
  complete: 'the run is complete: its last version is published',
}

/** Formats the reason why there is no work. */
export function idleLine(reason: string, detail: string): string {
  const why = detail === '' ? '' : `: ${forTerminal(detail)}`
  if (reason === 'paused') return `the operator has paused the run${why}`
  if (reason === 'banned') return `the operator has banned this key${why}`
  return (isRefusalCode(reason) ? EXPECTED[reason] : undefined) ?? `no work: ${explain(reason, forTerminal(detail))}`
}

/** Makes untrusted text safe for a terminal: one line, no control characters, and no change of text direction. */
export const forTerminal = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')

/** Reasons that change by the minute. */
const ROUTINE: ReadonlySet<string> = new Set<RefusalCode>([
  'no_work',
  'too_many_leases',
  'wrong_policy',
  'rate_limited',
])

const CONSEQUENCES: Readonly<Record<RefusalConsequence, string>> = {
  none: 'no further consequence',
  audits: 'consequence: closer audits',
  quarantine: 'consequence: no leases for a while (quarantine)',
  exclusion:
    'consequence: no more leases for this key (exclusion); `prove-node verify-group` repeats the check on this machine',
}

/** Formats a verdict, and the earlier verdict that it replaces. */
export function verdictLine({ leaseId, accepted, code, detail, credit }: Verdict, earlier: Verdict | null): string {
  const group = leaseId.slice(0, 8)
  const before = earlier === null ? '' : `, replaces ${earlier.accepted ? `credit ${earlier.credit}` : earlier.code}`
  if (accepted || code === null) return `group ${group} accepted, credit ${credit}${before}`
  const what = earlier?.accepted ? `revoked by a later audit${before}` : `refused${before}`
  return `group ${group} ${what}: ${explain(code, detail)}; ${CONSEQUENCES[REFUSALS[code].consequence]}`
}

/** Formats a code with its meaning and the detail of the coordinator. */
function explain(code: string, detail: string): string {
  const meaning = isRefusalCode(code) ? ` - ${REFUSALS[code].meaning}` : ''
  return `${code}${meaning}${detail === '' ? '' : ` (${detail})`}`
}
