import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { known, type SensorReading, unknown } from './sensor-reading.js'

const TIMEOUT_MS = 10_000
const ask = promisify(execFile)

/**
 * Reads the time since the last use of the machine (ms) from systemd's login manager. Desktops report some minutes after the last key or
 * movement. For a terminal the last input counts. Infinite without a logged-in user.
 */
export async function readUserIdle(nowMs: number): Promise<SensorReading<number>> {
  if (process.platform !== 'linux') return unknown(`${process.platform} has no login manager of systemd`)
  try {
    const options = { timeout: TIMEOUT_MS }
    const { stdout: list } = await ask('loginctl', ['list-sessions', '--no-legend'], options)
    const sessions = list.split('\n').flatMap((line) => line.trim().split(/\s+/)[0] || [])
    if (sessions.length === 0) return known(Number.POSITIVE_INFINITY)
    const { stdout } = await ask(
      'loginctl',
      ['show-session', '-p', 'Class,IdleHint,IdleSinceHint', ...sessions],
      options,
    )
    return known(idleOf(stdout, nowMs))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return unknown(code === 'ENOENT' ? 'loginctl is not installed' : message.trim().split('\n').at(-1)!)
  }
}

/**
 * Parses the sessions of the login manager.
 * @param properties  output of `loginctl show-session`: `Name=value` lines, with empty lines between sessions; times in µs since 1970
 * @returns ms since the last use in any session
 */
export function idleOf(properties: string, nowMs: number): number {
  const idle = properties.split(/\n\s*\n/).flatMap((session) => {
    const of = (name: string): string | undefined => new RegExp(`^${name}=(.*)$`, 'm').exec(session)?.[1]
    if (!of('Class')?.startsWith('user')) return []
    if (of('IdleHint') !== 'yes') return [0]
    return [Math.max(0, nowMs - Number(of('IdleSinceHint')) / 1000)]
  })
  return Math.min(Number.POSITIVE_INFINITY, ...idle)
}
