import { type Share, shareOf } from './chances.js'
import { AUDIT_CHECKS, type AuditCode, beginCheck, type CheckWatch, UNWATCHED } from './checks.js'
import type { GroupStatistics } from './sampled-token.js'
import { fitThresholds, type Thresholds } from './thresholds.js'

/** What an audit has found out about a group. */
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
  /** When the forward pass was asked for, by the watch: it is booked on the first stage that needs it. Default: now. */
  readonly sinceMs?: number
}

/** The stages that need the policy's forward pass, in the order of their table, from its statistics alone: the first fault counts. */
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
 * How many honest groups are refused. Each half of the groups is judged by thresholds that were fitted to the other half:
 * judged by their own, hardly any would fail, and the number would mean nothing.
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
