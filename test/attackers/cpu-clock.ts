import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts CPU time in hundredths of a second, whatever the kernel's own clock. */
const TICK_MS = 10

interface Process {
  readonly parent: number
  readonly cpuMs: number
}

function readProcess(pid: number): Process | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may hold spaces; the fields after it do not.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { parent: Number(fields[1]), cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS }
  } catch {
    // It has ended since it was listed.
    return null
  }
}

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** CPU milliseconds that a process and those of its children have used whose command line holds `helper`. */
export function cpuMsOf(pid: number, helper: string): number {
  const own = readProcess(pid)?.cpuMs ?? 0
  const children = readdirSync('/proc').flatMap((entry) => {
    const child = /^\d+$/.test(entry) ? readProcess(Number(entry)) : null
    return child?.parent === pid && commandOf(Number(entry)).includes(helper) ? [child.cpuMs] : []
  })
  return own + children.reduce((sum, ms) => sum + ms, 0)
}

/** Bytes of memory that a process has in use. */
export function memoryBytesOf(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  if (!line) throw new Error(`/proc/${pid}/status names no memory`)
  return Number(line[1]) * 1024
}
