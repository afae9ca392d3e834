import { ALARM_LIMITS, type Alarm, alarmsOf } from '../report/alarms.js'
import type { LiveReport } from '../report/live-report.js'

/**
 * Reports each alarm when it arises, once the report has read the whole log. Checks after events that can change an alarm: a version, a
 * run configuration, a dry run, the last volunteer's end, and a number of groups.
 */
export function watchAlarms(report: LiveReport, onAlarm: (alarm: Alarm) => void): { look(): void } {
  let inForce = new Set<Alarm['code']>()
  const look = (): void => {
    const alarms = alarmsOf(report.run.report())
    const raised = alarms.filter(({ code }) => !inForce.has(code))
    inForce = new Set(alarms.map(({ code }) => code))
    for (const alarm of raised) onAlarm(alarm)
  }
  let judged = 0
  report.listen((event) => {
    if (event.type === 'judged') judged += 1
    const isTime = event.type === 'judged' ? judged % ALARM_LIMITS.groups === 0 : CHECKED_AFTER.has(event.type)
    if (report.behind === 0 && isTime) look()
  })
  return { look }
}

const CHECKED_AFTER: ReadonlySet<string> = new Set([
  ...['published', 'configured', 'rehearsed', 'unattended', 'attended', 'strained', 'relieved'],
])
