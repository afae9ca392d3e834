import { z } from 'zod'
import { countOf } from '../../common/errors/index.js'
import type { Verdict } from '../../proto/index.js'
import { leaderboardPlace } from '../report/leaderboard-place.js'
import { fetchingLine, forTerminal, idleLine, type NodeProgress, restLine, verdictLine } from '../report/progress.js'
import type { LedgerTotals } from '../store/ledger.js'

/** State of a node on the live screen, and in the answer to `prove-node status`. */
export const nodeView = z.strictObject({
  peerId: z.string(),
  /** Address of the coordinator. */
  coordinator: z.string(),
  startedAtMs: z.number(),
  /** Text for the owner. */
  state: z.string(),
  phase: z.enum(['starting', 'waiting', 'working', 'resting', 'trouble', 'finishing', 'complete']),
  version: z.number().nullable(),
  /** Number of versions that the run plans. */
  versions: z.number().nullable(),
  backend: z.string().nullable(),
  rollouts: z.number(),
  tokens: z.number(),
  tokensPerSecond: z.number(),
  /** Since the start of the program. */
  accepted: z.number(),
  refused: z.number(),
  credit: z.number(),
  /** Number of groups without a verdict. */
  waiting: z.number(),
  /** Since the node joined the run. */
  allAccepted: z.number(),
  allCredit: z.number(),
  /** Place on the newest leaderboard; null: no place. */
  place: leaderboardPlace.nullable(),
  /** Announcement of the run's operator. */
  announcement: z.string().nullable(),
  /** The last reasons for refused or rejected groups, the newest first. */
  reasons: z.array(z.string()),
  peers: z.number(),
  sent: z.number(),
  received: z.number(),
  /** Traffic of this month in both directions. */
  monthBytes: z.number(),
  /** Limits in force, and limits that have no effect here, as texts. */
  limits: z.array(z.string()),
  notKept: z.array(z.string()),
})

export type NodeView = z.output<typeof nodeView>
type Phase = NodeView['phase']

/** The part of the view that follows from the node's progress. */
export interface ReportedState
  extends Pick<
    NodeView,
    | 'state'
    | 'phase'
    | 'version'
    | 'versions'
    | 'backend'
    | 'accepted'
    | 'refused'
    | 'credit'
    | 'allAccepted'
    | 'allCredit'
    | 'place'
    | 'announcement'
    | 'reasons'
  > {}

/** Number of reasons in the view. */
const REASONS = 3

const LOADING = 'starting: loading and checking the model'

/** Returns the state at the start. @param before  totals of earlier processes */
export function initialState(before: Pick<LedgerTotals, 'accepted' | 'credit'>): ReportedState {
  return {
    state: LOADING,
    phase: 'starting',
    version: null,
    versions: null,
    backend: null,
    accepted: 0,
    refused: 0,
    credit: 0,
    allAccepted: before.accepted,
    allCredit: before.credit,
    place: null,
    announcement: null,
    reasons: [],
  }
}

/** Returns the state after an event of the node. */
export function stateAfter(before: ReportedState, progress: NodeProgress): ReportedState {
  const now = (phase: Phase, state: string): ReportedState => ({ ...before, phase, state })
  switch (progress.type) {
    case 'invited':
    case 'source-dropped':
      return before
    case 'fetching':
      return now('starting', progress.share < 1 ? `starting: ${fetchingLine(progress)}` : LOADING)
    case 'base-delayed':
      return now('trouble', `the base model is not available now, trying again: ${progress.detail}`)
    case 'ready':
      return { ...now('waiting', 'looking for the coordinator'), backend: progress.backend }
    case 'refitted':
      return { ...before, backend: progress.backend }
    case 'policy':
      return { ...now('waiting', 'asking for work'), version: progress.version, versions: progress.versions }
    case 'leased':
      return now('working', workingOn(progress.inProgress, progress.rollouts))
    case 'group':
      return progress.inProgress > 0
        ? now('working', workingOn(progress.inProgress, progress.rewards.length))
        : now('waiting', 'asking for work')
    case 'verdict':
      return counted(before, progress.verdict, progress.earlier)
    case 'dropped':
      return { ...before, reasons: [`rejected: ${progress.code}`, ...before.reasons].slice(0, REASONS) }
    case 'offline':
      return now('trouble', `cannot reach the coordinator, trying again: ${progress.detail}`)
    case 'trouble':
      return now('trouble', `requests to the coordinator fail, trying again: ${progress.detail}`)
    case 'idle':
      if (progress.reason === 'complete') return now('complete', idleLine(progress.reason, progress.detail))
      return now('waiting', waitingFor(progress))
    case 'rest':
      return now('resting', `paused: ${restLine(progress)}`)
    case 'online':
      return before.phase === 'trouble' ? resumed(before) : before
    case 'resumed':
      return resumed(before)
    case 'announcement':
      return { ...before, announcement: progress.text === null ? null : forTerminal(progress.text) }
    case 'leaderboard':
      return { ...before, place: progress.place }
    case 'alarm':
      return { ...before, reasons: [`ALARM: ${progress.text}`, ...before.reasons].slice(0, REASONS) }
    case 'finishing':
      return now('finishing', `ending: waiting for ${countOf(progress.waiting, 'verdict')}`)
    case 'notice':
      return before
  }
}

const workingOn = (groups: number, rollouts: number): string =>
  `working on ${groups > 1 ? `${groups} groups` : 'a group'} of ${countOf(rollouts, 'rollout')}`

/** Returns the state after an interruption: without an engine the node is still starting. */
const resumed = (before: ReportedState): ReportedState =>
  before.backend === null
    ? { ...before, phase: 'starting', state: 'starting' }
    : { ...before, phase: 'waiting', state: 'asking for work' }

/** Formats the reason for a wait. Reasons that change by the second need no code. */
const waitingFor = ({ reason, detail }: Extract<NodeProgress, { type: 'idle' }>): string =>
  reason === 'no_work' || reason === 'too_many_leases' || reason === 'wrong_policy'
    ? 'waiting for work: enough groups are in progress'
    : idleLine(reason, detail)

/** Counts a verdict, and subtracts the one that it replaces. */
function counted(before: ReportedState, verdict: Verdict, earlier: Verdict | null): ReportedState {
  const { accepted, refused, credit, allAccepted, allCredit, reasons } = before
  const more = Number(verdict.accepted) - Number(earlier?.accepted ?? false)
  const earned = verdict.credit - (earlier?.credit ?? 0)
  const wasRefused = earlier !== null && !earlier.accepted
  return {
    ...before,
    accepted: accepted + more,
    refused: refused + Number(!verdict.accepted) - Number(wasRefused),
    credit: credit + earned,
    allAccepted: allAccepted + more,
    allCredit: allCredit + earned,
    reasons: verdict.accepted ? reasons : [verdictLine(verdict, earlier), ...reasons].slice(0, REASONS),
  }
}
