// Loads a coordinator with honest and hostile messages and tells whether its memory stays level.
// Usage: npm run soak -- [--messages 50000] [--minutes 30] [--seed 1] [--json]
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const run = (args, stdout) => spawnSync(process.execPath, args, { stdio: ['ignore', stdout, 'inherit'] }).status ?? 1

const status = run([`${root}scripts/setup.mjs`], 2)
process.exit(status === 0 ? run([`${root}dist/test/soak/soak.js`, ...process.argv.slice(2)], 'inherit') : status)
