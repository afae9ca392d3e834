// Carries out the attacks of docs/attackers.md on this machine. Usage: npm run attackers -- [--help]
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// What set-up and build say goes to stderr: stdout is for the result alone.
const setup = fileURLToPath(new URL('setup.mjs', import.meta.url))
const { status } = spawnSync(process.execPath, [setup], { stdio: ['ignore', 2, 2] })
if (status !== 0) process.exit(status ?? 1)
await import('../dist/test/attackers/main.js')
