// Runs several files of uvu tests in one process. Usage: node scripts/run-test-files.mjs dist/test/unit/a.test.js ...
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from 'uvu/run'
import { startGroup } from './processes.mjs'

const files = process.argv.slice(2)
if (process.env.PROVE_IN_GROUP === '1') {
  await run(files.map((name) => ({ name, file: resolve(name) })))
} else {
  // The programs that a test starts are in this group. They end with it, also when this process is killed.
  const child = startGroup(process.execPath, [fileURLToPath(import.meta.url), ...files], {
    cwd: process.cwd(),
    env: { ...process.env, PROVE_IN_GROUP: '1' },
    stdio: 'inherit',
  })
  child.once('close', (code) => {
    process.exitCode = code ?? 1
  })
}
