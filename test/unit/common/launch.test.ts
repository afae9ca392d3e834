import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { versionText } from '../../../common/cli/version.js'
import { checkout } from '../../support/checkout.js'
import { PATIENCE_MS } from '../../support/patience.js'

/** Starts a program like npm's link to it, in a Node.js that reports the given version. */
const launch = (folder: string, version: string) => {
  const launcher = JSON.stringify(join(folder, 'launch.cjs'))
  const script = `Object.defineProperty(process.versions, 'node', { value: '${version}' }); require(${launcher})('node')`
  return execa(process.execPath, ['-e', script, '--', '--help'], { reject: false, timeout: PATIENCE_MS })
}

test('a Node.js that is too old prints one line with the needed version', async () => {
  for (const version of ['12.22.1', '18.20.4', '20.18.3']) {
    const { exitCode, stderr } = await launch(join(checkout, 'bin'), version)
    assert.is(exitCode, 1)
    assert.is(stderr, `Node.js ${version} is too old: install 20.19 or newer (nodejs.org).`)
  }
})

test('a checkout that is not built prints what to do', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-launch-'))
  try {
    await cp(join(checkout, 'bin'), join(folder, 'bin'), { recursive: true })
    const { exitCode, stderr } = await launch(join(folder, 'bin'), '20.19.0')
    assert.is(exitCode, 1)
    assert.is(stderr, 'This checkout is not built yet; run npm run setup')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('the version names the package, the protocols and the engine', async () => {
  const { version, bin } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8'))
  const [own, protocols, engine] = versionText().split('\n')
  assert.is(own, version)
  assert.match(protocols!, /^protocols lease\/\d+, group\/\d+/)
  assert.match(engine!, /^engine node-llama-cpp \d+\.\d+\.\d+$/)
  assert.equal(Object.keys(bin).sort(), ['prove-coordinator', 'prove-lab', 'prove-node', 'prove-server', 'prove-swarm'])
})

test.run()
