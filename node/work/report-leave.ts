import { type LeaveReason, leaveNotice } from '../../proto/index.js'
import { EngineError } from '../../rollout/engine/index.js'
import { requestLeases } from '../../swarm/index.js'
import { NodeError, type NodeErrorCode } from '../report/errors.js'
import type { LeaseSource } from './held-lease.js'

const LEAVE_TIMEOUT_MS = 2000

const REASONS: Readonly<Partial<Record<NodeErrorCode, LeaveReason>>> = {
  canary_failed: 'canary_failed',
  incompatible: 'incompatible',
  wrong_base: 'wrong_base',
  bad_lease: 'bad_lease',
  broken_environment: 'broken_environment',
  unwritable: 'unwritable',
}
/** Reasons whose message cannot contain a path of the owner's machine. */
const WITHOUT_PATHS: ReadonlySet<LeaveReason> = new Set<LeaveReason>(['canary_failed', 'incompatible'])

/**
 * Reports to the coordinator why this node ends its work. Without it, a run that all nodes leave would stand still for no visible
 * reason. A failure is ignored, because the coordinator also sees the end of the connection.
 */
export async function reportLeave(error: unknown, { host, coordinator }: LeaseSource): Promise<void> {
  // A coordinator of another version does not understand the notice.
  if (error instanceof NodeError && error.code === 'other_version') return
  const notice = noticeOf(error)
  await requestLeases(host, coordinator, notice, host.clock.timeout(LEAVE_TIMEOUT_MS)).catch((why: unknown) =>
    host.logger.child({ part: 'work' }).debug({ error: why }, 'the coordinator did not take the notice of the end'),
  )
}

function noticeOf(error: unknown): ReturnType<typeof leaveNotice> {
  if (error instanceof EngineError) return leaveNotice('engine_failed', error.code)
  const reason = error instanceof NodeError ? (REASONS[error.code] ?? 'failed') : 'failed'
  return leaveNotice(reason, error instanceof NodeError && WITHOUT_PATHS.has(reason) ? error.detail : '')
}
