// Runs several files of uvu tests in one process. Usage: node scripts/run-test-files.mjs dist/test/unit/a.test.js ...
import { resolve } from 'node:path'
import { run } from 'uvu/run'

await run(process.argv.slice(2).map((name) => ({ name, file: resolve(name) })))
