import { Gauge } from 'prom-client'
import type { Metrics } from '../../swarm/index.js'
import { ALARM_CODES, alarmsOf } from './alarms.js'
import type { LiveReport } from './live-report.js'
import type { VersionReport } from './version-report.js'

/** Measures the whole run, not only the events since the start, whenever the metrics are collected. */
export function meterReport(registers: Metrics, report: LiveReport): void {
  const newest = (of: (version: VersionReport) => number | null): number => {
    const version = report.run.report().versions.findLast((one) => of(one) !== null)
    return version ? of(version)! : Number.NaN
  }
  const gauges: readonly (readonly [name: string, help: string, value: () => number])[] = [
    [
      'prove_reward_mean',
      'Mean reward of the rollouts of the newest version with accepted groups',
      () => newest(({ reward }) => reward),
    ],
    [
      'prove_solved_ratio',
      'Share of the replayed rollouts of the newest version that solved their task',
      () => newest(({ solved }) => solved),
    ],
    [
      'prove_rollout_calls_mean',
      'Mean number of tool calls per replayed rollout of the newest version',
      () => newest(({ calls }) => calls),
    ],
    [
      'prove_staleness_versions',
      'Mean number of versions that the groups of the last step were behind',
      () => newest(({ staleness }) => staleness),
    ],
    [
      'prove_heldout_reward_mean',
      'Mean reward on held-out tasks of the newest version with a score',
      () => newest(({ heldOut }) => heldOut?.reward.mean ?? null),
    ],
    [
      'prove_heldout_reward_stderr',
      'Standard error of the mean reward on held-out tasks of the newest version with a score',
      () => newest(({ heldOut }) => heldOut?.reward.stderr ?? null),
    ],
    [
      'prove_heldout_solved_ratio',
      'Share of held-out tasks solved by the newest version with a score',
      () => newest(({ heldOut }) => heldOut?.solved.mean ?? null),
    ],
    [
      'prove_heldout_calls_mean',
      'Mean number of tool calls per rollout on held-out tasks of the newest version with a score',
      () => newest(({ heldOut }) => heldOut?.calls ?? null),
    ],
    [
      'prove_heldout_version',
      'Newest version with a score on held-out tasks',
      () => newest(({ heldOut, version }) => (heldOut ? version : null)),
    ],
    ['prove_groups_accepted', 'Accepted groups of the whole run', () => report.run.report().accepted],
    [
      'prove_groups_zero_variance',
      'Zero-variance groups among the accepted groups of the whole run',
      () => report.run.report().zeroVariance,
    ],
    ['prove_tokens_judged', 'Sampled tokens of replayed groups of the whole run', () => report.run.report().tokens],
  ]
  for (const [name, help, value] of gauges)
    new Gauge({
      ...{ name, help, registers: [registers] },
      collect() {
        this.set(value())
      },
    })
  new Gauge({
    name: 'prove_groups_refused',
    help: 'Refused groups of the whole run, including those of later audits, by reason',
    labelNames: ['code'],
    registers: [registers],
    collect() {
      this.reset()
      for (const [code, count] of report.run.report().refused) this.set({ code }, count)
    },
  })
  new Gauge({
    name: 'prove_nodes_left',
    help: 'Nodes that ended their work because of an error under the newest version, by the reason that they reported',
    labelNames: ['reason'],
    registers: [registers],
    collect() {
      this.reset()
      for (const [reason, count] of Object.entries(report.run.report().versions.at(-1)?.left ?? {}))
        this.set({ reason }, count)
    },
  })
  new Gauge({
    name: 'prove_reward_part_mean',
    help: 'Mean reward components of the newest version with accepted groups, by component',
    labelNames: ['part'],
    registers: [registers],
    collect() {
      this.reset()
      const version = report.run.report().versions.findLast(({ parts }) => Object.keys(parts).length > 0)
      for (const [part, mean] of Object.entries(version?.parts ?? {})) this.set({ part }, mean)
    },
  })
  new Gauge({
    name: 'prove_alarm',
    help: 'Whether an alarm is raised, by alarm: 1, or 0',
    labelNames: ['alarm'],
    registers: [registers],
    collect() {
      const raised = new Set(alarmsOf(report.run.report()).map(({ code }) => code))
      for (const alarm of ALARM_CODES) this.set({ alarm }, Number(raised.has(alarm)))
    },
  })
}
