import type { EventOf, RunEvent } from '../../coordinator/ledger/events.js'
import { RunReducer } from '../../coordinator/ledger/run-reducer.js'
import type { BatchRecord, LeaseRecord } from '../../coordinator/ledger/run-state.js'
import { leaseSeed } from '../../rollout/verification/lease-seed.js'

/** What may not be in a log, whatever has befallen the run. */
export type Rule =
  | 'order of versions'
  | 'order of rounds'
  | 'work before the terms'
  | 'order of steps'
  | 'lease of an unknown round'
  | 'lease of a key that is not admitted'
  | 'lease with another seed'
  | 'lease given out twice'
  | 'more leases than one key may hold'
  | 'renewal of no lease'
  | 'event of an unknown lease'
  | 'verdict of another lease'
  | 'second verdict'
  | 'second audit'
  | 'audit too late'
  | 'loss of no usable group'
  | 'second batch'
  | 'batch beside a batch'
  | 'batch of an unusable group'
  | 'batch of a stale group'
  | 'batch of a withdrawn adapter'
  | 'outcome of no batch'
  | 'version of no batch'
  | 'group lost'
  | 'credit'
  | 'ledger'
  | 'finished group lost'
  | 'finished group kept'
  | 'known and not on disk'
  | 'run not complete'

export interface Violation {
  readonly rule: Rule
  /** Place of the event in the log; null: of the log as a whole. */
  readonly at: number | null
  readonly detail: string
}

export interface RunBounds {
  /** The version with which the run is complete. */
  readonly versions: number
  readonly maxStaleness: number
  readonly leasesPerNode: number
}

/** What the log says about one group. */
type Standing = 'usable' | 'flat' | 'refused' | 'revoked' | 'batched' | 'lost'

/**
 * Proves from a log that the run kept its promises: no accepted group is lost or trained on twice, nothing refused is
 * trained on, every lease is what its round's secret says. It keeps books of its own and compares them with the coordinator's.
 * @param state  the coordinator's books, still empty
 */
export function checkLog(events: readonly RunEvent[], bounds: RunBounds, state = new RunReducer()): Violation[] {
  const violations: Violation[] = []
  const rounds = new Map<number, EventOf<'published' | 'reopened'>>()
  const registered = new Map<string, number>()
  const leases = new Map<string, LeaseRecord>()
  const open = new Set<string>()
  const places = new Set<string>()
  const groups = new Map<
    string,
    { readonly node: string; readonly version: number; credit: number; standing: Standing }
  >()
  const audited = new Set<string>()
  /** The adapter of each version, as the step that made it. */
  const adapters: number[] = []
  const withdrawn = new Set<number>()
  let version = -1
  let steps = 0
  let pending = null as BatchRecord | null
  let at = 0 as number | null
  const fault = (rule: Rule, detail: string): void => void violations.push({ rule, at, detail })

  const openRound = (event: Extract<RunEvent, { type: 'published' | 'reopened' }>): void => {
    const last = Math.max(-1, ...rounds.keys())
    if (event.round !== last + 1) fault('order of rounds', `round ${event.round} after ${last}`)
    rounds.set(event.round, event)
  }

  const lend = (event: LeaseRecord): void => {
    const { leaseId, node, index } = event
    const round = rounds.get(event.round)
    if (round?.version !== event.version) {
      fault('lease of an unknown round', `${leaseId} is of round ${event.round}, version ${event.version}`)
      return
    }
    if ((registered.get(node) ?? Number.POSITIVE_INFINITY) >= event.round)
      fault('lease of a key that is not admitted', `${node} in round ${event.round}`)
    const seed = leaseSeed(Buffer.from(round.roundSecret, 'hex'), round.policyId, node, index).toString('hex')
    if (seed !== event.seed) fault('lease with another seed', leaseId)
    const before = leases.get(leaseId)
    const place = `${node} ${event.round} ${index}`
    const same = before?.seed === event.seed && before.taskIndex === event.taskIndex && before.node === node
    if (before ? !same || open.has(leaseId) || groups.has(leaseId) : places.has(place))
      fault('lease given out twice', leaseId)
    places.add(place)
    leases.set(leaseId, event)
    open.add(leaseId)
    const held = [...open].filter((other) => leases.get(other)!.node === node).length
    if (held > bounds.leasesPerNode) fault('more leases than one key may hold', `${node} holds ${held}`)
  }

  const judge = (event: Extract<RunEvent, { type: 'judged' }>): void => {
    const { leaseId, node, accepted, zeroVariance, credit } = event
    const lease = leases.get(leaseId)!
    if (lease.node !== node || lease.version !== event.version) fault('verdict of another lease', leaseId)
    if (groups.has(leaseId)) fault('second verdict', leaseId)
    open.delete(leaseId)
    const standing = accepted ? (zeroVariance ? 'flat' : 'usable') : 'refused'
    groups.set(leaseId, { node, version: event.version, credit: accepted ? credit : 0, standing })
    if (!accepted && credit !== 0) fault('credit', `${leaseId} is refused and earns ${credit}`)
  }

  const audit = (event: Extract<RunEvent, { type: 'audited' }>): void => {
    const { leaseId, accepted } = event
    const group = groups.get(leaseId)
    if (audited.has(leaseId)) fault('second audit', leaseId)
    audited.add(leaseId)
    // The audit of a batch is the trainer's: it comes when the batch has been formed, and before it is trained on.
    const inBatch = pending?.batchId === event.batchId && pending?.leaseIds.includes(leaseId)
    const stands =
      event.batchId === undefined
        ? group?.standing === 'usable' || (group?.standing === 'flat' && event.code === 'unconfirmed')
        : group?.standing === 'batched' && inBatch && !accepted
    if (!stands) {
      fault('audit too late', `${leaseId} is ${group?.standing ?? 'not judged'}`)
      return
    }
    if (accepted || !group) return
    group.standing = 'revoked'
    group.credit = 0
  }

  const passBatch = (event: EventOf<'batch-audited'>): void => {
    for (const { leaseId } of event.groups) {
      if (audited.has(leaseId)) fault('second audit', leaseId)
      audited.add(leaseId)
      if (pending?.batchId !== event.batchId || !pending.leaseIds.includes(leaseId))
        fault('audit too late', `${leaseId} is not in ${event.batchId}`)
    }
  }

  const batch = (event: Extract<RunEvent, { type: 'batched' }>): void => {
    if (pending) fault('batch beside a batch', `${event.batchId} while ${pending.batchId} is under way`)
    if (event.step !== steps + 1) fault('order of steps', `step ${event.step} after ${steps}`)
    pending = event
    for (const leaseId of event.leaseIds) {
      const group = groups.get(leaseId)
      if (group?.standing === 'batched') fault('second batch', leaseId)
      else if (group?.standing !== 'usable')
        fault('batch of an unusable group', `${leaseId} is ${group?.standing ?? 'not judged'}`)
      if (group && version - group.version > bounds.maxStaleness)
        fault('batch of a stale group', `${leaseId} is of version ${group.version}, now ${version}`)
      if (group && withdrawn.has(group.version))
        fault('batch of a withdrawn adapter', `${leaseId} is of version ${group.version}`)
      if (group) group.standing = 'batched'
    }
  }

  /** The body of a group is gone: a batch that waits for it is dissolved, and its others are usable again. */
  const lose = ({ leaseId }: EventOf<'body-lost'>): void => {
    const group = groups.get(leaseId)
    const isPending = pending?.leaseIds.includes(leaseId) ?? false
    if (!group || !(group.standing === 'usable' || (group.standing === 'batched' && isPending))) {
      fault('loss of no usable group', `${leaseId} is ${group?.standing ?? 'not judged'}`)
      return
    }
    if (isPending) {
      for (const other of pending!.leaseIds) groups.get(other)!.standing = 'usable'
      pending = null
    }
    group.standing = 'lost'
  }

  for (const [place, event] of events.entries()) {
    at = place
    if (place === 0 && event.type !== 'configured' && event.type !== 'written-by') {
      fault('work before the terms', event.type)
      return violations
    }
    if (('leaseId' in event && event.type !== 'leased' && !leases.has(event.leaseId)) || groupsUnknown(event, leases)) {
      fault('event of an unknown lease', event.type)
      continue
    }
    if (event.type === 'published') {
      if (event.version !== version + 1) fault('order of versions', `version ${event.version} after ${version}`)
      if (event.version > 0 && pending?.step !== event.step) fault('version of no batch', `step ${event.step}`)
      version = event.version
      for (const [older, made] of adapters.entries()) if (made > event.adapterStep) withdrawn.add(older)
      adapters.push(event.adapterStep)
      openRound(event)
    } else if (event.type === 'reopened') {
      if (event.version !== version) fault('order of rounds', `a round of version ${event.version} in ${version}`)
      openRound(event)
    } else if (event.type === 'registered') registered.set(event.node, event.round)
    else if (event.type === 'leased') lend(event)
    else if (event.type === 'renewed') {
      if (!open.has(event.leaseId)) fault('renewal of no lease', event.leaseId)
    } else if (event.type === 'released') open.delete(event.leaseId)
    else if (event.type === 'judged') judge(event)
    else if (event.type === 'audited') audit(event)
    else if (event.type === 'batch-audited') passBatch(event)
    else if (event.type === 'body-lost') lose(event)
    else if (event.type === 'batched') batch(event)
    else if (event.type === 'trained' || event.type === 'batch-refused') {
      if (pending?.batchId !== event.batchId) fault('outcome of no batch', event.batchId)
      if (event.type === 'trained') steps = event.step
      pending = null
    }
    state.apply(event)
  }

  at = null
  if (version !== bounds.versions) fault('run not complete', `version ${version} of ${bounds.versions}`)
  checkGroups()
  checkCredit()
  return violations

  function checkGroups(): void {
    const usable = new Set(state.trainable(bounds.maxStaleness).map(({ leaseId }) => leaseId))
    for (const [leaseId, group] of groups) {
      const stale = version - group.version > bounds.maxStaleness
      const gone = withdrawn.has(group.version)
      const expected = group.standing === 'usable' && !stale && !gone
      if (expected !== (usable.has(leaseId) || (expected && state.suspects.has(leaseId))))
        fault('group lost', `${leaseId}: ${group.standing}${stale ? ' and stale' : ''}${gone ? ' and withdrawn' : ''}`)
    }
  }

  function checkCredit(): void {
    const credits = new Map<string, number>()
    for (const { node, credit } of groups.values()) credits.set(node, (credits.get(node) ?? 0) + credit)
    for (const [node, { credit }] of state.nodes)
      if (credit !== (credits.get(node) ?? 0)) fault('credit', `${node}: ${credit}, its verdicts ${credits.get(node)}`)
  }
}

const groupsUnknown = (event: RunEvent, leases: ReadonlyMap<string, unknown>): boolean =>
  event.type === 'batched' && event.leaseIds.some((leaseId) => !leases.has(leaseId))
