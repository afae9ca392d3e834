// Simulates a run with thousands of volunteers. Usage: npm run simulate -- [--nodes 1000] [--minutes 20] [--seed 1]
// [--audit-ms 760] [--profile] [--json]; see docs/explain/scale.md.
import { existsSync } from 'node:fs'
import { runProgram, setUpFirst } from './set-up-first.mjs'

setUpFirst(['--programs'])
runProgram('dist/test/simulation/main.js', {
  nodeOptions: [
    '--max-old-space-size=12000',
    '--max-semi-space-size=256',
    // Several threads that collect garbage wait for each other on a busy machine.
    '--single-threaded-gc',
    // Thousands of nodes need a heap of this size. Collections before the heap is that large free nothing.
    '--initial-heap-size=4000',
  ],
  env: {
    // One thread for disk work: operations complete in the order in which they were started, in every run.
    UV_THREADPOOL_SIZE: '1',
    // The simulated disk has its own delays. Files in memory avoid the delays of a real disk.
    ...(existsSync('/dev/shm') ? { TMPDIR: '/dev/shm' } : {}),
  },
})
