import { readdirSync, readFileSync } from 'node:fs'
import { cpuSeconds } from './cpu-seconds.js'

export interface ProcessTime {
  readonly pid: number
  readonly command: string
  /** CPU time so far. */
  readonly seconds: number
}

/** Returns a process and its living descendants; none without `/proc`. */
export function processTree(root: number): ProcessTime[] {
  const children = new Map<number, number[]>()
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    const parent = read(pid, 'stat').replace(/^.*\) \S /s, '')
    const of = Number.parseInt(parent, 10)
    children.set(of, [...(children.get(of) ?? []), pid])
  }
  const found: ProcessTime[] = []
  const waiting = [root]
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    const seconds = cpuSeconds(pid)
    if (seconds !== null) found.push({ pid, command: read(pid, 'cmdline').replaceAll('\0', ' '), seconds })
    waiting.push(...(children.get(pid) ?? []))
  }
  return found
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    // The process has ended in the meantime.
    return ''
  }
}
