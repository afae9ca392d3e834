import { z } from 'zod'
import { countOf } from '../../common/errors/index.js'
import type { Verdict } from '../../proto/index.js'
import { leaderboardPlace } from '../report/leaderboard-place.js'
import { fetchingLine, forTerminal, idleLine, type NodeProgress, restLine, verdictLine } from '../report/progress.js'
import type { LedgerTotals } from '../store/ledger.js'

/** What a node is doing, as its owner sees it: on the screen, and in the answer to `prove-node status`. */
export const nodeView = z.strictObject({
  peerId: z.string(),
  /** Where the coordinator is reached. */
  coordinator: z.string(),
  startedAtMs: z.number(),
  /** In words. */
  state: z.string(),
  phase: z.enum(['starting', 'waiting', 'working', 'resting', 'trouble', 'finishing', 'complete']),
  version: z.number().nullable(),
  /** How many the run is to have. */
  versions: z.number().nullable(),
  backend: z.string().nullable(),
  rollouts: z.number(),
  tokens: z.number(),
  tokensPerSecond: z.number(),
  /** Since the program started. */
  accepted: z.number(),
  refused: z.number(),
  credit: z.number(),
  /** Groups without a verdict. */
  waiting: z.number(),
  /** Of all time, in this run. */
  allAccepted: z.number(),
  allCredit: z.number(),
  /** On the newest board that has come; null: it has earned nothing there. */
  place: leaderboardPlace.nullable(),
  /** What the run's operator tells all volunteers. */
  announcement: z.string().nullable(),
  /** What was said last of groups that were refused or not taken, the newest first. */
  reasons: z.array(z.string()),
  peers: z.number(),
  sent: z.number(),
  received: z.number(),
  /** Both ways, in this month. */
  monthBytes: z.number(),
  /** In force, in words, and those that cannot be kept to. */
  limits: z.array(z.string()),
  notKept: z.array(z.string()),
})

export type NodeView = z.output<typeof nodeView>
type Phase = NodeView['phase']

/** The part of the picture that follows from what the node reports. */
export interface Story
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

/** So many reasons are shown. */
const REASONS = 3

const LOADING = 'starting: the model is loaded and checked'

/** @param before  what became of the node's groups before the program started */
export function beginStory(before: Pick<LedgerTotals, 'accepted' | 'credit'>): Story {
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

export function continueStory(story: Story, progress: NodeProgress): Story {
  const now = (phase: Phase, state: string): Story => ({ ...story, phase, state })
  switch (progress.type) {
    case 'invited':
    case 'source-dropped':
      return story
    case 'fetching':
      return now('starting', progress.share < 1 ? `starting: ${fetchingLine(progress)}` : LOADING)
    case 'base-delayed':
      return now('trouble', `the base model cannot be had now, trying again: ${progress.detail}`)
    case 'ready':
      return { ...now('waiting', 'looking for the coordinator'), backend: progress.backend }
    case 'refitted':
      return { ...story, backend: progress.backend }
    case 'policy':
      return { ...now('waiting', 'asking for work'), version: progress.version, versions: progress.versions }
    case 'leased':
      return now('working', workingOn(progress.inProgress, progress.rollouts))
    case 'group':
      return progress.inProgress > 0
        ? now('working', workingOn(progress.inProgress, progress.rewards.length))
        : now('waiting', 'asking for work')
    case 'verdict':
      return judged(story, progress.verdict, progress.earlier)
    case 'dropped':
      return { ...story, reasons: [`not taken: ${progress.code}`, ...story.reasons].slice(0, REASONS) }
    case 'offline':
      return now('trouble', `the coordinator cannot be reached, trying again: ${progress.detail}`)
    case 'trouble':
      return now('trouble', `the coordinator cannot be worked with, trying again: ${progress.detail}`)
    case 'idle':
      if (progress.reason === 'complete') return now('complete', idleLine(progress.reason, progress.detail))
      return now('waiting', waitingFor(progress))
    case 'rest':
      return now('resting', `resting: ${restLine(progress)}`)
    case 'online':
      return story.phase === 'trouble' ? goingOn(story) : story
    case 'resumed':
      return goingOn(story)
    case 'announcement':
      return { ...story, announcement: progress.text === null ? null : forTerminal(progress.text) }
    case 'leaderboard':
      return { ...story, place: progress.place }
    case 'finishing':
      return now('finishing', `ending: waiting for ${countOf(progress.waiting, 'verdict')}`)
    case 'notice':
      return story
  }
}

const workingOn = (groups: number, rollouts: number): string =>
  `working on ${groups > 1 ? `${groups} groups` : 'a group'} of ${countOf(rollouts, 'rollout')}`

/** Without an engine it has the start still before it. */
const goingOn = (story: Story): Story =>
  story.backend === null
    ? { ...story, phase: 'starting', state: 'starting' }
    : { ...story, phase: 'waiting', state: 'asking for work' }

/** What a node without a lease waits for; the two that come and go by the second need no code. */
const waitingFor = ({ reason, detail }: Extract<NodeProgress, { type: 'idle' }>): string =>
  reason === 'no_work' || reason === 'too_many_leases' || reason === 'wrong_policy'
    ? 'waiting for work: the run has enough groups under way'
    : idleLine(reason, detail)

/** Counts a verdict, and takes back what it replaces. */
function judged(story: Story, verdict: Verdict, earlier: Verdict | null): Story {
  const { accepted, refused, credit, allAccepted, allCredit, reasons } = story
  const more = Number(verdict.accepted) - Number(earlier?.accepted ?? false)
  const earned = verdict.credit - (earlier?.credit ?? 0)
  const wasRefused = earlier !== null && !earlier.accepted
  return {
    ...story,
    accepted: accepted + more,
    refused: refused + Number(!verdict.accepted) - Number(wasRefused),
    credit: credit + earned,
    allAccepted: allAccepted + more,
    allCredit: allCredit + earned,
    reasons: verdict.accepted ? reasons : [verdictLine(verdict, earlier), ...reasons].slice(0, REASONS),
  }
}
