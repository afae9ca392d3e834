import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Returns the CPU time of a process in seconds, over all threads; null without `/proc`. */
export function cpuSeconds(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in brackets may contain spaces. State, 10 numbers, and the ticks in user and kernel mode follow.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
  } catch {
    return null
  }
}

let ticksPerSecond: number | undefined
