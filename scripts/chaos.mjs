// Plays whole runs under misfortune, in virtual time. Usage: npm run chaos -- [--seed N] [--seeds N] [--scenario NAME] [--json]
// [--log] [--list]; see docs/chaos.md.
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

// What set-up and build say goes to stderr: stdout is for the results alone.
const { status } = spawnSync(process.execPath, [`${root}scripts/setup.mjs`], { stdio: ['ignore', 2, 2] })
if (status !== 0) process.exit(status ?? 1)
const child = spawn(process.execPath, [`${root}dist/test/chaos/main.js`, ...process.argv.slice(2)], {
  // One thread for disk work: operations come back in the order in which they were started, in every run.
  env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
  stdio: 'inherit',
})
child.once('close', (code) => {
  process.exitCode = code ?? 1
})
