import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hasHome } from '../../../node/commands/defaults.js'
import { PROGRAM } from '../../../node/commands/program.js'
import { tryToWrite } from '../../../node/doctor/machine-checks.js'
import { usableMemory } from '../../../rollout/engine/index.js'

const folder = mkdtempSync(join(tmpdir(), 'prove-machine-'))
test.after(() => rmSync(folder, { recursive: true }))

test('the memory of a container counts, and not that of its host', () => {
  assert.is(usableMemory(64, 8), 8)
  assert.is(usableMemory(64, 0), 64)
  // What Node.js reports outside of a container.
  assert.is(usableMemory(64, 18_446_744_073_709_552_000), 64)
  assert.ok(usableMemory() > 0)
})

test('a folder is usable if a file can be written to it, or to the folder in which it will be created', async () => {
  assert.is(await tryToWrite(join(folder, 'new', 'folder')), null)
  assert.equal(readdirSync(folder), [], 'nothing is left')
  const file = join(folder, 'file')
  writeFileSync(file, '')
  assert.match((await tryToWrite(file))!, /file is not a folder/)
  assert.match((await tryToWrite(join(file, 'below')))!, /cannot be written to/)
})

test('without a home folder, a command asks for --data-dir', () => {
  assert.not.ok(
    hasHome(() => {
      throw new Error('uv_os_homedir returned ENOENT')
    }),
  )
  assert.ok(hasHome(() => '/home/ada'))
  assert.throws(() => PROGRAM.prepare!({ dataDir: '' }), /set HOME, or give --data-dir/)
  PROGRAM.prepare!({ dataDir: '/data' })
  PROGRAM.prepare!({})
})

test.run()
