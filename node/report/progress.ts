import { countOf } from '../../common/errors/index.js'
import { isRefusalCode, REFUSALS, type RefusalCode, type RefusalConsequence, type Verdict } from '../../proto/index.js'
import { type Confinement, type ConfinementLevel, type Placement, USUAL_CACHE } from '../../rollout/engine/index.js'
import { inBytes } from './in-bytes.js'
import { type JoinPlan, planText } from './join-plan.js'
import { type LeaderboardPlace, placeText } from './leaderboard-place.js'

/** What a volunteer, or a program that started the node, is told as it happens. */
export type NodeProgress =
  /** What the run is, before anything is fetched. */
  | { readonly type: 'invited'; readonly plan: JoinPlan }
  /** So much of the base model is there: 0 .. 1. */
  | { readonly type: 'fetching'; readonly share: number; readonly sizeBytes: number }
  /** A peer or a URL is not asked any more for the base model, or for now. */
  | { readonly type: 'source-dropped'; readonly source: string; readonly detail: string }
  /** The base model cannot be had at the moment; the node goes on trying. */
  | { readonly type: 'base-delayed'; readonly detail: string }
  | {
      readonly type: 'ready'
      readonly peerId: string
      readonly backend: string
      /** What of the machine it computes with. */
      readonly placement: Placement
      /** What keeps the engine's process from doing harm. */
      readonly confinement: Confinement
    }
  /** The engine was loaded anew for rollouts of so many tokens, or for the type of caches that the run asks for. */
  | {
      readonly type: 'refitted'
      readonly tokens: number
      readonly backend: string
      readonly placement: Placement
    }
  /** `versions`: how many the run is to have, if it says so. */
  | { readonly type: 'policy'; readonly version: number; readonly versions: number | null; readonly policyId: string }
  /** Work on a group begins. `inHand`: groups that are made now, this one included. */
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
      /** Tokens sampled in all rollouts, and the time it took, beside others that were made meanwhile. */
      readonly tokens: number
      readonly ms: number
      /** Groups that are still made. */
      readonly inProgress: number
    }
  /** `earlier`: the verdict on the same group that this one replaces, because an audit spoke later. */
  | { readonly type: 'verdict'; readonly verdict: Verdict; readonly earlier: Verdict | null }
  | { readonly type: 'dropped'; readonly leaseId: string; readonly code: string }
  /** The coordinator has not been reached for some seconds; the node goes on trying. `detail`: where, and why not. */
  | { readonly type: 'offline'; readonly detail: string }
  /** The coordinator is there again, after `offline`. */
  | { readonly type: 'online' }
  /** The coordinator is there, but several attempts in a row to work with it came to nothing; the node goes on trying. */
  | { readonly type: 'trouble'; readonly detail: string }
  /** There is no work at the moment. `waiting`: finished groups without a verdict; told again when one gets its own. */
  | { readonly type: 'idle'; readonly reason: string; readonly detail: string; readonly waiting: number }
  /** By its owner's wish, or by a limit, the node takes no work. `untilMs`: when that is known to end. */
  | { readonly type: 'rest'; readonly why: string; readonly untilMs: number | null }
  | { readonly type: 'resumed' }
  /** What the run's operator tells all volunteers, signed; null: nothing any more. */
  | { readonly type: 'announcement'; readonly text: string | null }
  /** Where the node's key stands on the run's board: a newer board has come. */
  | { readonly type: 'leaderboard'; readonly place: LeaderboardPlace }
  /** No more work is taken; `waiting`: groups whose verdicts are waited for. */
  | { readonly type: 'finishing'; readonly waiting: number }
  /** A limit that cannot be kept to here, or anything else that the owner should know of. */
  | { readonly type: 'notice'; readonly text: string }

export const fetchingLine = ({ share, sizeBytes }: Extract<NodeProgress, { type: 'fetching' }>): string =>
  `base model: ${Math.round(100 * share)} % of ${inBytes(sizeBytes)}`

/** One line for the volunteer, or `null` for what happens too often to be worth one. */
export function progressLine(progress: NodeProgress): string | null {
  switch (progress.type) {
    case 'invited':
      return planText(progress.plan)
    case 'fetching':
      return fetchingLine(progress)
    case 'source-dropped':
      return `the base model does not come from ${progress.source}: ${progress.detail}`
    case 'base-delayed':
      return `the base model cannot be had now, trying again: ${progress.detail}`
    case 'ready':
      return `node ${progress.peerId}, inference on ${progress.backend} (${placementLine(progress.placement)}), ${confinementLine(progress.confinement)}`
    case 'refitted':
      return `room for rollouts of ${progress.tokens} tokens, inference on ${progress.backend} (${placementLine(progress.placement)})`
    case 'policy':
      return `version ${progress.version}${progress.versions === null ? '' : ` of ${progress.versions}`} is loaded and passed its canary`
    case 'group': {
      const mean = progress.rewards.reduce((sum, reward) => sum + reward, 0) / progress.rewards.length
      const speed = Math.round((1000 * progress.tokens) / Math.max(1, progress.ms))
      return `group of ${progress.rewards.length} for version ${progress.version}: mean reward ${mean.toFixed(3)}, ${speed} tokens/s`
    }
    case 'verdict':
      return verdictLine(progress.verdict, progress.earlier)
    case 'dropped':
      return `group ${progress.leaseId.slice(0, 8)} was not taken: ${explain(progress.code, '')}`
    case 'offline':
      return `the coordinator cannot be reached, trying again: ${progress.detail}`
    case 'online':
      return 'the coordinator is connected again'
    case 'trouble':
      return `the coordinator cannot be worked with, trying again: ${progress.detail}`
    case 'idle':
      return ROUTINE.has(progress.reason) ? null : idleLine(progress.reason, progress.detail)
    case 'leased':
      return null
    case 'rest':
      return `resting: ${restLine(progress)}`
    case 'resumed':
      return 'working again'
    case 'announcement':
      return progress.text === null ? null : `the run's operator says: ${forTerminal(progress.text)}`
    case 'leaderboard':
      return `on the board: ${placeText(progress.place)}`
    case 'finishing':
      return `no more work is taken; waiting for ${countOf(progress.waiting, 'verdict')}`
    case 'notice':
      return progress.text
  }
}

/** What an engine took of the machine. */
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
  none: 'in a process that can do whatever you can',
}

const confinementLine = ({ level, lacks }: Confinement): string =>
  lacks.length === 0 ? BOUNDS[level] : `${BOUNDS[level]} (${lacks.join('; ')})`

/** Why a node rests, and until when, by the clock of the place. */
export const restLine = ({ why, untilMs }: { readonly why: string; readonly untilMs: number | null }): string =>
  untilMs === null
    ? why
    : `${why}, until ${new Date(untilMs).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })}`

/** What belongs to the life of any node, in words; all else is told by its code. */
const EXPECTED: Readonly<Partial<Record<RefusalCode, string>>> = {
  not_registered: 'the run has taken this node in; work begins with the next round, mostly within seconds',
  complete: 'the run is complete: its last version is published, and there is no more work',
}

/** Why there is no work at the moment. */
export function idleLine(reason: string, detail: string): string {
  const why = detail === '' ? '' : `: ${forTerminal(detail)}`
  if (reason === 'paused') return `the operator has paused the run${why}`
  if (reason === 'banned') return `the operator has banned this key${why}`
  return (isRefusalCode(reason) ? EXPECTED[reason] : undefined) ?? `no work: ${explain(reason, forTerminal(detail))}`
}

/** Text of a stranger for a terminal: on one line, and with nothing in it that moves the cursor or turns the direction of what follows. */
export const forTerminal = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')

/** Reasons for a pause that come and go by the minute. */
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
  exclusion: 'consequence: no leases for this key any more (exclusion); `prove-node verify` repeats the check at home',
}

/** One sentence on what became of a group, and of what was said of it before. */
export function verdictLine({ leaseId, accepted, code, detail, credit }: Verdict, earlier: Verdict | null): string {
  const group = leaseId.slice(0, 8)
  const before = earlier === null ? '' : `, in place of ${earlier.accepted ? `credit ${earlier.credit}` : earlier.code}`
  if (accepted || code === null) return `group ${group} accepted, credit ${credit}${before}`
  const what = earlier?.accepted ? `revoked by a later audit${before}` : `refused${before}`
  return `group ${group} ${what}: ${explain(code, detail)}; ${CONSEQUENCES[REFUSALS[code].consequence]}`
}

/** A code with its meaning and what the coordinator adds. */
function explain(code: string, detail: string): string {
  const meaning = isRefusalCode(code) ? ` - ${REFUSALS[code].meaning}` : ''
  return `${code}${meaning}${detail === '' ? '' : ` (${detail})`}`
}
