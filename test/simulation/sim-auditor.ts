import { createAuditQueue } from '../../coordinator/intake/audit-queue.js'
import { type Auditor, type AuditReport, type AuditRequest, LONGEST_QUEUE } from '../../coordinator/intake/auditor.js'
import type { LogitErrorSums } from '../../rollout/verification/index.js'
import type { Clock } from '../../swarm/index.js'
import { NO_LOGIT_ERRORS } from '../support/audit-groups.js'
import type { Kind } from './population.js'

/** Of a group whose choices all favour better rollouts, by so much that its key is held back after six audits of it and caught after some twenty (docs/explain/verification.md). */
const STEERED: LogitErrorSums = { ...NO_LOGIT_ERRORS, logitError: 0.02, odds: [1, 1, 1, 1], betterLogitError: 1 }

export interface SimAuditorParts {
  readonly clock: Clock
  readonly poisoned: ReadonlyMap<string, Kind>
  /** For one group. */
  readonly auditMs: number
  readonly signal: AbortSignal
}

/**
 * The coordinator's own queue of audits before a process that takes its time. What it finds is what the real audits find: every group
 * that was not sampled (docs/reports/2026-11-attackers.md, "Measured": 220 of 220), and of near ties the sums alone.
 */
export function createSimAuditor({ clock, poisoned, auditMs, signal }: SimAuditorParts): Auditor & { busyMs: number } {
  const report = (leaseId: string): AuditReport => {
    const kind = poisoned.get(leaseId)
    if (kind === undefined) return { accepted: true, logitErrors: NO_LOGIT_ERRORS }
    if (kind === 'near-ties') return { accepted: true, logitErrors: STEERED }
    return { accepted: false, code: 'sampler_mismatch', detail: 'the tokens are not what their seeds select' }
  }
  const queue = createAuditQueue(async (_, groups, ending) => {
    await clock.sleep(groups.length * auditMs, ending)
    auditor.busyMs += groups.length * auditMs
    return groups.map(() => [])
  }, signal)
  const auditor = {
    busyMs: 0,
    get isBehind() {
      return queue.waiting >= LONGEST_QUEUE
    },
    async audit(request: AuditRequest) {
      const { adapterSha256, limits, leaseId, leaseSeed, rollouts, reliable } = request
      await queue.tokenScores({ adapterSha256, limits }, { leaseId, leaseSeed, rollouts }, reliable)
      return report(leaseId)
    },
    // The trainer's first forward pass: it takes no time of its own.
    auditBatch: async (_: string, requests: readonly AuditRequest[]) => requests.map(({ leaseId }) => report(leaseId)),
  }
  return auditor
}
