// Simulates a run with thousands of volunteers. Usage: npm run simulate -- [--nodes 1000] [--minutes 20] [--seed 1]
// [--audit-ms 760] [--json]; see docs/scale.md.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

// What set-up and build say goes to stderr: stdout is for the results alone.
const { status } = spawnSync(process.execPath, [`${root}scripts/setup.mjs`], { stdio: ['ignore', 2, 2] })
if (status !== 0) process.exit(status ?? 1)
const child = spawn(
  process.execPath,
  [
    '--max-old-space-size=12000',
    '--max-semi-space-size=256',
    // Several threads that collect wait for each other on a busy machine.
    '--single-threaded-gc',
    // Of thousands of nodes; what is collected before the heap is that large is collected for nothing.
    '--initial-heap-size=4000',
    `${root}dist/test/simulation/main.js`,
    ...process.argv.slice(2),
  ],
  {
    // One thread for disk work: operations come back in the order in which they were started, in every run.
    // The simulated disk takes its own time: files in memory, where there is room, keep nobody waiting for a real one.
    env: { ...process.env, UV_THREADPOOL_SIZE: '1', ...(existsSync('/dev/shm') ? { TMPDIR: '/dev/shm' } : {}) },
    stdio: 'inherit',
  },
)
child.once('close', (code) => {
  process.exitCode = code ?? 1
})
