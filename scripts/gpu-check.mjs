// Compares what this machine's GPU computes with what its CPU does: the engine of volunteers and the trainer of operators.
// Usage: npm run gpu-check -- [--part engine | trainer] [--software] [--help]; see docs/sizing.md.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const args = process.argv.slice(2)
const run = (script, rest, stdout) =>
  spawnSync(process.execPath, [`${root}${script}`, ...rest], { stdio: ['ignore', stdout, 'inherit'] }).status ?? 1

// What set-up and build say goes to stderr: stdout is for the result alone. The engine needs no Python.
const alone = args.includes('--software') || args.join(' ').includes('--part engine')
const status = run('scripts/setup.mjs', alone ? ['--programs'] : [], 2)
process.exit(status === 0 ? run('dist/test/gpu-check/main.js', args, 'inherit') : status)
