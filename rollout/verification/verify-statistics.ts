import { type Share, shareOf } from './chances.js'
import { AUDIT_CHECKS, type AuditCode, beginCheck, type CheckWatch, UNWATCHED } from './checks.js'
import type { GroupStatistics } from './sampled-token.js'
import { fitThresholds, type Thresholds } from './thresholds.js'

/** The finding of an audit about a group. */
export type AuditFinding =
  | { readonly accepted: true }
  | {
      readonly accepted: false
      readonly code: AuditCode
      /** One sentence for the volunteer, with the numbers. */
      readonly detail: string
    }

export interface AuditOptions {
  readonly watch?: CheckWatch
  /** Time on the watch's clock when the forward pass began. Its duration counts for the first check. Default: now. */
  readonly sinceMs?: number
}

/** Runs the checks that need the policy's forward pass on its statistics, in the order of their table. The first fault decides. */
export function verifyStatistics(
  statistics: GroupStatistics,
  thresholds: Thresholds,
  { watch = UNWATCHED, sinceMs }: AuditOptions = {},
): AuditFinding {
  const group = { statistics, thresholds }
  let since = sinceMs
  for (const { number, refusals, run } of AUDIT_CHECKS) {
    const end = beginCheck(number, watch, since)
    since = undefined
    const detail = run(group)
    end(detail === null ? 'passed' : 'refused')
    if (detail !== null) return { accepted: false, code: refusals[0], detail }
  }
  return { accepted: true }
}

export interface MeasuredRefusals {
  readonly measured: Share
  readonly byCode: Readonly<Record<string, number>>
}

/**
 * Measures the share of honest groups that are refused, by cross-validation: each half of the groups is verified with thresholds fitted
 * to the other half. With thresholds from the same groups, hardly any would fail.
 */
export function measureFalseRefusals(
  groups: readonly GroupStatistics[],
  goal: number,
  confidence: number,
): MeasuredRefusals {
  const refused = [0, 1].flatMap((parity) => {
    const others = groups.filter((_, i) => i % 2 !== parity)
    const thresholds = fitThresholds(others, goal)
    return groups.flatMap((group, i) => {
      if (i % 2 !== parity) return []
      const finding = verifyStatistics(group, thresholds)
      return finding.accepted ? [] : [finding.code]
    })
  })
  const byCode: Record<string, number> = {}
  for (const code of refused) byCode[code] = (byCode[code] ?? 0) + 1
  return { measured: shareOf(refused.length, groups.length, confidence), byCode }
}
