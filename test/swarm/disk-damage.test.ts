import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { DataFolderError } from '../../coordinator/ledger/disk-losses.js'
import { openRunKey } from '../../coordinator/service/run-key.js'
import { manifestFile } from '../../coordinator/settings/data-folder.js'
import { openManifest, sealManifest } from '../../proto/index.js'
import { exportIdentity, importIdentity, readKey } from '../../swarm/index.js'
import { keyOf } from '../support/swarm-nodes.js'
import { runSuite } from './run-suite.js'

// What a disk may do to a run's key; whole runs on damaged disks are played in test/chaos/scenarios/damages.ts.

const { test } = runSuite('a data folder that has lost something')

async function codeOf(work: Promise<unknown>): Promise<string> {
  const why = await work.then(
    () => null,
    (error: unknown) => error,
  )
  assert.instance(why, DataFolderError)
  assert.match((why as Error).message, /restore a backup into another folder/)
  return (why as DataFolderError).code
}

test('a log without its key is refused, and no key is made for it', async ({ open }) => {
  const run = await open()
  const { key, host } = run.coordinator.node
  await importIdentity(run.folder, exportIdentity({ privateKey: key, peerId: host.peerId }))
  const { end } = run.coordinator.log
  assert.is((await openRunKey(run.folder, end)).peerId, run.swarm.runId)
  await rm(join(run.folder, 'identity.key'))
  assert.is(await codeOf(openRunKey(run.folder, end)), 'key_missing')
  assert.is(await readKey(run.folder), null)
})

test('a manifest that another key has signed is no damage: the key is the wrong one', async ({ open }) => {
  const run = await open()
  const { round } = run.coordinator.recorder.state.round!
  const file = manifestFile(join(run.folder, 'manifests'), round)
  const whole = await readFile(file)
  const { manifest } = await openManifest(whole, run.swarm.runId)
  const other = await sealManifest(await keyOf(99), 'another run', manifest)
  assert.is(await codeOf(run.restart({}, () => writeFile(file, other.envelope))), 'wrong_key')
  await run.restart({}, () => writeFile(file, whole))
  assert.is(run.coordinator.recorder.state.round!.round, round)
})

test.run()
