import type { CoordinatorProfile } from './coordinator-profile.js'
import type { Report } from './report.js'

/** For the terminal. */
export function reportLines(report: Report): string[] {
  const { coordinator, gossipPerNode, node, propagation, staleness, time, groups, poisoned, newcomers } = report
  const percent = (share: number | null): string => (share === null ? '-' : `${(100 * share).toFixed(1)} %`)
  const seconds = (value: number | null): string => (value === null ? 'never' : `${value.toFixed(0)} s`)
  const times = ({ p50, p95, p99 }: Report['propagation']['loaded']): string =>
    `p50 ${seconds(p50)}, p95 ${seconds(p95)}, p99 ${seconds(p99)}`
  const rate = (bytes: number): string =>
    bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB/s` : `${(bytes / 1e3).toFixed(1)} kB/s`
  const counts = (of: Readonly<Record<string, number>>): string =>
    Object.entries(of)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ') || 'none'
  const rows: readonly (readonly [what: string, figure: string])[] = [
    ['nodes', `${report.nodes}, ${report.simulatedMinutes} simulated minutes, ${report.versions} versions`],
    [
      'coordinator, of a core',
      `${percent(coordinator.cpuMeasured)} as it ran, ${percent(coordinator.cpuWithReplay)} with replays`,
    ],
    [
      'coordinator, messages',
      `${coordinator.messagesPerS}/s, in ${rate(coordinator.receivedBytesPerS)}, out ${rate(coordinator.sentBytesPerS)}`,
    ],
    ['coordinator, streams', counts(coordinator.streamsPerS).replaceAll(/(\d) /g, '$1/s ')],
    ['coordinator, state', `${coordinator.stateEntries} leases, groups and keys`],
    ['audit process, busy', percent(coordinator.audits)],
    [
      'a node, gossip',
      `${gossipPerNode.messagesPerS}/s, ${rate(gossipPerNode.bytesPerS)} each way, ${report.shards} shards; ${node.announcementsHeld} announcements not passed on`,
    ],
    ['a node, adapters', `${rate(node.adapterBytesPerS)} each way`],
    [
      'adapter there',
      `${times(propagation.fetched)} (${propagation.versions} versions); ${percent(propagation.shareFromCoordinator)} of the bytes from the coordinator (${Object.entries(
        propagation.sharesByReason,
      )
        .map(([reason, share]) => `${reason} ${percent(share)}`)
        .join(', ')})`,
    ],
    ['worked under', times(propagation.loaded)],
    ['staleness', `mean ${staleness.mean ?? '-'}, most ${staleness.most ?? '-'} versions`],
    ['time of nodes', `work ${percent(time.work)}, idle ${percent(time.wait)}, fetching ${percent(time.fetch)}`],
    [
      'groups',
      `${groups.delivered} delivered, ${groups.left} left, ${groups.trained} in batches; waste ${percent(groups.waste)}; refused: ${counts(groups.refused)}`,
    ],
    [
      'poisoned groups',
      `${poisoned.delivered} delivered, ${poisoned.trained} trained (${counts(poisoned.trainedByKind)}); ${poisoned.keysQuarantined} keys quarantined`,
    ],
    [
      'newcomers',
      `${newcomers.came}, first lease p50 ${seconds(newcomers.firstLeaseP50)}, p95 ${seconds(newcomers.firstLeaseP95)}, ${newcomers.without} without`,
    ],
    ['turned away', counts(report.turnedAway)],
  ]
  return [
    ...rows.map(([what, figure]) => `${what.padEnd(24)} ${figure}`),
    ...(report.profile ? profileLines(report.profile) : []),
    ...report.invariants.map((what) => `VIOLATED: ${what}`),
    ...(report.error === null ? [] : [`ERROR: ${report.error}`]),
  ]
}

function profileLines({ ms, collectingMs, parts }: CoordinatorProfile): string[] {
  const spent = (share: number): string => `${(share * ms).toFixed(0)} ms`.padStart(10)
  return [
    `coordinator's main thread: ${ms.toFixed(0)} ms, and ${collectingMs.toFixed(0)} ms of collections of garbage`,
    ...parts.map(({ part, share }) => `${spent(share)} ${(100 * share).toFixed(1).padStart(5)} %  ${part}`),
  ]
}
