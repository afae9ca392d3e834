import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { findConfinement, probe } from '../../rollout/engine/find-confinement.js'

/** What the engine's process can do, by the program that tries it. */

test('without confinement a program reaches the network and all files: the probe sees what there is to see', async () => {
  assert.equal(await probe('none'), {
    reachesNetwork: true,
    readsSecret: true,
    writesOutside: true,
    writesScratch: true,
  })
})

test('what is found is the strongest level that holds, and what is stronger lacks something that is named', async () => {
  const { level, lacks } = await findConfinement(false)
  if (process.platform !== 'linux') assert.is(level, 'none')
  const bounds = { files: 0, network: 1, none: process.platform === 'linux' ? 2 : 1 }
  assert.is(lacks.length, bounds[level], lacks.join('; '))
  if (level === 'none') return
  assert.equal(await probe(level), {
    reachesNetwork: false,
    readsSecret: level !== 'files',
    writesOutside: level !== 'files',
    writesScratch: true,
  })
  // The weaker one holds as well: it is what a process with a GPU gets.
  assert.is((await probe('network')).reachesNetwork, false)
})

test('drivers that a user has named may lie anywhere: an engine that may use them sees all files', async () => {
  const named = process.env.VK_DRIVER_FILES
  process.env.VK_DRIVER_FILES = '/home/driver.json'
  try {
    const { level, lacks } = await findConfinement('auto')
    assert.is.not(level, 'files')
    if (process.platform === 'linux') assert.match(lacks[0]!, /^files: GPU drivers/)
    assert.equal(
      (await findConfinement(false)).lacks.filter((lack) => lack.includes('drivers')),
      [],
    )
  } finally {
    if (named === undefined) delete process.env.VK_DRIVER_FILES
    else process.env.VK_DRIVER_FILES = named
  }
})

test.run()
