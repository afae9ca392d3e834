import { ALARM_LIMITS, type Alarm, alarmsOf } from '../report/alarms.js'
import type { LiveReport } from '../report/live-report.js'

/**
 * Tells of each alarm when it arises, once the report is up with the run, and again if it arises anew. It looks at what can change one:
 * versions, terms, a dry run, and every so many groups.
 */
export function watchAlarms(report: LiveReport, onAlarm: (alarm: Alarm) => void): { look(): void } {
  let inForce = new Set<Alarm['code']>()
  const look = (): void => {
    const alarms = alarmsOf(report.run.report())
    const news = alarms.filter(({ code }) => !inForce.has(code))
    inForce = new Set(alarms.map(({ code }) => code))
    for (const alarm of news) onAlarm(alarm)
  }
  let judged = 0
  report.listen((event) => {
    if (event.type === 'judged') judged += 1
    const isTime = event.type === 'judged' ? judged % ALARM_LIMITS.groups === 0 : LOOKED_AT.has(event.type)
    if (report.behind === 0 && isTime) look()
  })
  return { look }
}

const LOOKED_AT: ReadonlySet<string> = new Set(['published', 'configured', 'rehearsed'])
