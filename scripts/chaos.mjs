// Plays whole runs with failures, in virtual time. Usage: npm run chaos -- [--seed N] [--seeds N] [--scenario NAME] [--json]
// [--log] [--list]; see docs/contribute/chaos.md.
import { runProgram, setUpFirst } from './set-up-first.mjs'

setUpFirst(process.argv.includes('--processes') ? [] : ['--programs'])
// One thread for disk work: operations complete in the order in which they were started, in every run.
runProgram('dist/test/chaos/main.js', { env: { UV_THREADPOOL_SIZE: '1' } })
