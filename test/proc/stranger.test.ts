// needs: python

import { appendFile, copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { JoinPlan } from '../../node/report/join-plan.js'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS } from '../support/patience.js'
import { demoModel, machinesOf } from '../support/programs.js'
import { ENDLESS, startRun, stop, tells } from './runs.js'

const test = suite('a stranger')
const machine = machinesOf(test)

test('joins with one string and an empty home: the node fetches the model, and a group is accepted', async () => {
  const on = await machine()
  // A model that comes with no package: GGUF readers pass over what follows the last tensor.
  const model = join(on.folder, 'base.gguf')
  await copyFile(demoModel(), model)
  await appendFile(model, Buffer.alloc(4096))
  const run = await startRun(on, 'run', {
    config: {
      base: { path: model, name: 'strange-base' },
      about: { operator: 'Ada', purpose: 'A test of strangers.' },
      versions: ENDLESS,
      rounds: { registrationMs: 300 },
    },
  })
  const stated = await run.coordinator.until('its invitation', ({ type }) => type === 'invitation')
  const invitation = (await readFile(join(run.dataDir, 'invitation.txt'), 'utf8')).trim()
  assert.is(stated.invitation, invitation)
  assert.is(stated.reach, 'machine')

  const home = join(on.folder, 'home')
  await mkdir(home)
  const inHome = ['env', '-u', 'XDG_DATA_HOME', `HOME=${home}`]
  /** Another terminal. */
  const type = async (...args: string[]): Promise<string> => {
    const program = join(checkout, 'dist', 'node', 'main.js')
    const [command, ...rest] = [...inHome, process.execPath, program, ...args]
    return (await execa(command!, rest, { timeout: PATIENCE_MS, stdin: 'ignore' })).stdout
  }
  const cache = (...args: string[]): Promise<string> => type('cache', ...args)
  const began = performance.now()
  const accepted = run.coordinator.until(
    'an accepted group',
    tells('judged', ({ accepted: good }) => good),
  )
  const node = on.start('node', ['join', invitation, '--cpu', '--json'], 'stranger', inHome)
  const invited = await node.until('what the run is', ({ type }) => type === 'invited')
  const plan = invited.plan as JoinPlan
  assert.equal([plan.operator, plan.purpose, plan.from], ['Ada', 'A test of strangers.', 'download'])
  await node.until('the model', ({ type, share }) => type === 'fetching' && share === 1)
  const fetchedMs = performance.now() - began
  await accepted
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`  model ${(fetchedMs / 1000).toFixed(1)} s after join, first accepted group ${seconds} s after join`)

  assert.match(await type('status'), /\nrun .* version \d+ of /)
  let seen = node.lines.length
  await type('pause', '--now')
  await node.until('the rest', ({ type: what, why }) => what === 'rest' && why === 'by its owner', seen)
  assert.match(await type('status'), /\nnow +paused: by its owner/)
  seen = node.lines.length
  await type('resume')
  await node.until('a group after it', ({ type: what }) => what === 'group', seen)

  assert.match(await cache(), /strange-base .*last used/)
  assert.match(await cache('clean', '--all'), /kept .*strange-base .*\(a node is running\)/)
  await stop(node)
  assert.match(await cache('clean'), /kept .*strange-base/)
  const again = on.start('node', ['join', invitation, '--cpu', '--json'], 'again', inHome)
  const second = await again.until('what the run is', ({ type }) => type === 'invited')
  assert.is((second.plan as JoinPlan).from, 'cache')
  await again.until('the engine', ({ type }) => type === 'ready')
  await stop(again)
  assert.match(await cache('clean', '--all'), /removed .*strange-base/)
  assert.match(await cache(), /contains no base model/)
  await stop(run.coordinator)
})

test.run()
