import { type LeaseResponse, SwarmRefusal } from '../../proto/index.js'
import { EngineError } from '../../rollout/engine/index.js'
import { TransportError } from '../../swarm/index.js'
import type { LoadedPolicy } from '../policy/policy-keeper.js'
import { NodeError } from '../report/errors.js'
import type { GroupsInProgress } from './groups-in-progress.js'

/** Why the work ended: its signal fired, its owner ended it, or the run is complete. */
export type WorkEnd = 'closed' | 'finished' | 'complete'

/** The policy that a node takes leases for. */
export interface Working {
  readonly policy: LoadedPolicy
  /** Whether the last update of the policy changed it. */
  readonly isNew: boolean
  /** Number of answers without a lease in a row. */
  readonly timesIdle: number
}

/** State of the work loop. */
export type WorkState =
  /** Connects with the coordinator, and loads the newest policy. */
  | { readonly name: 'connecting' }
  /** Waits for capacity, and asks for a lease. */
  | ({ readonly name: 'asking' } & Working)
  /** Waits for work. `groupEnded` fires when a group ends that was in progress at the question. */
  | ({ readonly name: 'waiting'; readonly answer: LeaseResponse; readonly groupEnded: AbortSignal } & Working)
  /** Measures the speed once more, because the coordinator found this machine too slow. */
  | ({ readonly name: 'measuring'; readonly detail: string } & Working)
  /** Waits for the end of the groups in progress. */
  | { readonly name: 'draining'; readonly then: WorkState }
  /** Rests for its owner or for a limit. */
  | { readonly name: 'paused' }
  /** Rests for hours, because this machine is too slow for the run. */
  | { readonly name: 'too-slow'; readonly why: string }
  /** Pauses before the next attempt. `trouble`: what the owner reads about it. */
  | { readonly name: 'retrying'; readonly trouble: string | null }
  /** Waits for the verdicts on its groups. */
  | { readonly name: 'delivering'; readonly end: WorkEnd }
  | { readonly name: 'ended'; readonly end: WorkEnd }
  | { readonly name: 'failed'; readonly error: unknown }

/** The result of what a node did in a state. */
export type WorkEvent =
  | { readonly type: 'loaded'; readonly policy: LoadedPolicy; readonly isNew: boolean }
  /** A group was begun, under this policy. */
  | { readonly type: 'leased'; readonly policy: LoadedPolicy }
  | { readonly type: 'no-lease'; readonly answer: LeaseResponse; readonly groupEnded: AbortSignal }
  /** The coordinator works with another manifest than the node. */
  | { readonly type: 'outdated' }
  /** The wait for work is over. `isNewer`: there is a newer round. */
  | { readonly type: 'woken'; readonly isNewer: boolean }
  | { readonly type: 'group-ended' }
  /** No other group may begin, because one did not end well. */
  | { readonly type: 'groups-stopped' }
  | ({ readonly type: 'drained' } & Awaited<ReturnType<GroupsInProgress['drain']>>)
  | { readonly type: 'measured'; readonly isFaster: boolean; readonly why: string }
  | { readonly type: 'off-duty' }
  /** A rest, or a pause before the next attempt, is over. */
  | { readonly type: 'rested' }
  | { readonly type: 'finish' }
  | { readonly type: 'delivered' }
  | { readonly type: 'closed' }
  | { readonly type: 'failed'; readonly error: unknown }

/** A state, with what the node remembers of earlier states. */
export interface Situation {
  readonly state: WorkState
  /** Crashes of the engine since the last finished group. */
  readonly crashes: number
  /** Failed attempts with the coordinator since its last answer. */
  readonly failures: number
  /** The trouble that the owner read last, since the coordinator's last answer. */
  readonly reported: string | null
}

/** The situation at the start. */
export const START: Situation = { state: { name: 'connecting' }, crashes: 0, failures: 0, reported: null }

/** Crashes of the engine in a row after which the node stops. */
export const MAX_CRASHES = 3
/** Failures in a row that may be chance: a restart, a lost connection. */
export const CHANCE_FAILURES = 2

/**
 * The state after an event.
 * @param stay  whether the node continues when the run is complete
 */
export function next(at: Situation, event: WorkEvent, stay: boolean): Situation {
  const { state } = at
  const to = (then: WorkState): Situation => ({ ...at, state: then })
  const drained = (then: WorkState): Situation => to({ name: 'draining', then })
  switch (event.type) {
    case 'closed':
      return drained({ name: 'ended', end: 'closed' })
    case 'off-duty':
      return drained({ name: 'paused' })
    case 'failed':
      return state.name === 'asking' || state.name === 'waiting' || state.name === 'measuring'
        ? drained({ name: 'failed', error: event.error })
        : afterFailure(at, event.error)
    case 'groups-stopped':
      return drained({ name: 'connecting' })
    case 'drained':
      return afterGroups(at, event)
    case 'loaded':
      return to({ name: 'asking', policy: event.policy, isNew: event.isNew, timesIdle: 0 })
    case 'rested':
      return to({ name: 'connecting' })
    case 'finish':
      return to({ name: 'delivering', end: 'finished' })
    case 'delivered':
      return to({ name: 'ended', end: state.name === 'delivering' ? state.end : 'closed' })
    default:
      return whileWorking(at, event, stay)
  }
}

type WorkingEvent = Extract<
  WorkEvent,
  { type: 'leased' | 'no-lease' | 'outdated' | 'woken' | 'group-ended' | 'measured' }
>

/** The state after an event of the states that have a policy. */
function whileWorking(at: Situation, event: WorkingEvent, stay: boolean): Situation {
  const { state } = at
  if (state.name !== 'asking' && state.name !== 'waiting' && state.name !== 'measuring')
    throw new Error(`${event.type} in state ${state.name}`)
  const { policy, isNew, timesIdle } = state
  const working: Working = { policy, isNew, timesIdle }
  const to = (then: WorkState): Situation => ({ ...at, state: then })
  /** The coordinator has answered, so its failures count from zero. */
  const answered = (then: WorkState): Situation => ({ ...at, failures: 0, reported: null, state: then })
  const drained = (then: WorkState): WorkState => ({ name: 'draining', then })
  switch (event.type) {
    case 'leased': {
      const changed = event.policy !== policy
      return answered({ name: 'asking', policy: event.policy, isNew: isNew || changed, timesIdle: 0 })
    }
    case 'outdated':
      // Without a pause, a coordinator that names a manifest which it does not serve would be asked all the time.
      return answered(drained(isNew ? { name: 'connecting' } : { name: 'retrying', trouble: null }))
    case 'no-lease': {
      const { reason, detail } = event.answer
      if (reason === 'too_slow') return answered({ name: 'measuring', ...working, detail })
      if (reason === 'complete' && !stay) return answered(drained({ name: 'delivering', end: 'complete' }))
      const { answer, groupEnded } = event
      return answered({ name: 'waiting', ...working, timesIdle: timesIdle + 1, answer, groupEnded })
    }
    case 'woken':
      return to(event.isNewer ? drained({ name: 'connecting' }) : { name: 'asking', ...working })
    case 'group-ended':
      return to({ name: 'asking', ...working, timesIdle: 0 })
    case 'measured':
      return to(event.isFaster ? { name: 'asking', ...working } : drained({ name: 'too-slow', why: event.why }))
  }
}

/** Handles the end of all groups. A group that did not end well overrides the planned state, unless the work is over. */
function afterGroups(at: Situation, { done, stop }: Extract<WorkEvent, { type: 'drained' }>): Situation {
  const then: WorkState = at.state.name === 'draining' ? at.state.then : { name: 'connecting' }
  const now = done > 0 ? { ...at, crashes: 0 } : at
  if (then.name === 'ended') return { ...now, state: then }
  if (stop?.type === 'failed') return afterFailure(now, stop.error)
  if (stop?.type === 'too-slow') return { ...now, state: { name: 'too-slow', why: stop.why } }
  return then.name === 'failed' ? afterFailure(now, then.error) : { ...now, state: then }
}

/** The node tries again after a crash of the engine, and after trouble with the coordinator. Any other failure stops it. */
function afterFailure(at: Situation, error: unknown): Situation {
  if (error instanceof EngineError && error.code === 'engine_crashed') {
    const crashes = at.crashes + 1
    const state: WorkState = crashes >= MAX_CRASHES ? { name: 'failed', error } : { name: 'retrying', trouble: null }
    return { ...at, crashes, state }
  }
  if (error instanceof TransportError && error.code === 'other_version') {
    const incompatible = new NodeError('other_version', error.detail, { cause: error })
    return { ...at, state: { name: 'failed', error: incompatible } }
  }
  if (!(error instanceof TransportError || error instanceof SwarmRefusal || isTimeout(error)))
    return { ...at, state: { name: 'failed', error } }
  const failures = at.failures + 1
  const { message } = error as Error
  const isNews = failures > CHANCE_FAILURES && message !== at.reported
  return {
    ...at,
    failures,
    reported: isNews ? message : at.reported,
    state: { name: 'retrying', trouble: isNews ? message : null },
  }
}

const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError'
