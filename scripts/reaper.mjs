// Kills process groups when the process that started this one has ended, even by SIGKILL. Reads one line per group from standard
// input: `+PID` when a group starts, `-PID` when it has ended. Started by processes.mjs.
import { createInterface } from 'node:readline'

const groups = new Set()
const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const pid = Number(line.slice(1))
  if (line.startsWith('+')) groups.add(pid)
  else groups.delete(pid)
})
lines.on('close', () => {
  for (const pid of groups) {
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // The group has ended by itself.
    }
  }
})
