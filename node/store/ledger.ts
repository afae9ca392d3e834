import type { Verdict } from '../../proto/index.js'

/** Totals of a node's verdicts. An audit may replace a verdict: the last verdict on a lease counts. */
export interface LedgerTotals {
  readonly groups: number
  readonly accepted: number
  readonly refused: number
  /** Groups that were accepted first and refused after an audit, also counted in `refused`. */
  readonly revoked: number
  readonly credit: number
  /** Refused groups by reason, the most frequent first. */
  readonly reasons: readonly { readonly code: string; readonly groups: number }[]
}

/** Computes the totals. @param verdicts  in their order */
export function totalsOf(verdicts: readonly Verdict[]): LedgerTotals {
  const last = new Map<string, Verdict>()
  const acceptedOnce = new Set<string>()
  for (const verdict of verdicts) {
    last.set(verdict.leaseId, verdict)
    if (verdict.accepted) acceptedOnce.add(verdict.leaseId)
  }
  const final = [...last.values()]
  const refused = final.filter(({ accepted }) => !accepted)
  const reasons = new Map<string, number>()
  for (const { code } of refused) if (code !== null) reasons.set(code, (reasons.get(code) ?? 0) + 1)
  return {
    groups: final.length,
    accepted: final.length - refused.length,
    refused: refused.length,
    revoked: refused.filter(({ leaseId }) => acceptedOnce.has(leaseId)).length,
    credit: final.reduce((sum, { credit }) => sum + credit, 0),
    reasons: [...reasons].map(([code, groups]) => ({ code, groups })).sort((a, b) => b.groups - a.groups),
  }
}
