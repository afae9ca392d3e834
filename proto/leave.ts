import { oneOf, sentence } from './bounds.js'
import type { Decoded } from './codec.js'
import { detailForWire } from './errors.js'
import type { prove } from './gen/swarm.js'

/** Reasons with which a node ends its work although its owner did not end it. */
export const LEAVE_REASONS = [
  /** Its engine does not reproduce the run's canary. */
  'canary_failed',
  /** It lacks an environment, a tool-call format, a reward or a template of the run. */
  'incompatible',
  /** Its base model is not the run's. */
  'wrong_base',
  /** A lease was invalid for it. */
  'bad_lease',
  /** An environment failed on a call. */
  'broken_environment',
  /** Its engine crashed again and again, or could not be loaded. */
  'engine_failed',
  /** It cannot write to its disk. */
  'unwritable',
  /** Any other error. */
  'failed',
] as const
export type LeaveReason = (typeof LEAVE_REASONS)[number]

/** Notice of a node that ends its work because of an error. */
export interface Leave {
  readonly kind: 'leave'
  readonly reason: LeaveReason
  /** Sentence for the operator; empty: the reason says everything. */
  readonly detail: string
}

export const readLeave = ({ reason, detail }: Decoded<prove.LeaseLeave.$Properties>): Leave => ({
  kind: 'leave',
  reason: oneOf(reason, LEAVE_REASONS, 'reason for leaving'),
  detail: sentence(detail, 'detailBytes', 'detail of leaving'),
})

/** Makes a notice, with as much of the detail as fits. */
export const leaveNotice = (reason: LeaveReason, detail: string): Leave => ({
  kind: 'leave',
  reason,
  detail: detailForWire(detail),
})
