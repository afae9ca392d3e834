// needs: python

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Leaderboard } from '../../proto/index.js'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS, patience } from '../support/patience.js'
import { demoModel, machinesOf } from '../support/programs.js'
import { ENDLESS, nobodyLeft, startRun } from './runs.js'

const test = suite('controlling a node')
const machine = machinesOf(test)

interface Answer {
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** A command in another terminal. */
async function type(...args: string[]): Promise<Answer> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [join(checkout, 'dist/node/main.js'), ...args], {
    env: { NO_COLOR: '1', FORCE_COLOR: undefined },
    reject: false,
    timeout: PATIENCE_MS,
    stdin: 'ignore',
  })
  return { code: exitCode, stdout, stderr }
}

test('a volunteer sees, pauses, limits and ends a node from another terminal', async () => {
  const on = await machine()
  const run = await startRun(on, 'run', { config: { versions: ENDLESS } })
  const node = run.node('ann', run.address, ['--team', 'night owls'])
  const dataDir = join(on.folder, 'run', 'ann')
  const here = ['--data-dir', dataDir]
  const stated = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await type(...args, ...here)
    assert.is(code, 0, `${args.join(' ')}: ${stderr}`)
    return stdout
  }
  await node.until('a verdict', (line) => line.type === 'verdict')

  // Only the owner may look at the node, let alone control it.
  assert.is((await stat(dataDir)).mode & 0o777, 0o700)
  assert.is((await stat(join(dataDir, 'control.sock'))).mode & 0o777, 0o600)

  const view = JSON.parse(await stated('status', '--json')) as { accepted: number; credit: number; limits: string[] }
  assert.ok(view.accepted > 0 && view.credit > 0)
  assert.match(await stated('status'), /^PROVE node …\w{8}, .*\nnow .*\nrun .* version \d+ of 100000, 1 peer\n/)
  assert.match(await stated('verdicts'), / accepted, credit /)
  // The ranking is of a moment ago.
  const leaderboard = async () =>
    JSON.parse(await stated('leaderboard', run.address, '--json')) as Leaderboard & { own: string }
  let seenLeaderboard = await leaderboard()
  for (const signal = patience(); seenLeaderboard.keys.length === 0 && !signal.aborted; )
    seenLeaderboard = await leaderboard()
  const { own, keys, teams, asked } = seenLeaderboard
  assert.is(asked?.rank, 1)
  assert.equal(keys, [{ peerId: own, team: 'night owls', credit: teams[0]?.credit }])
  const operator = await execa(process.execPath, [
    ...[join(checkout, 'dist/coordinator/main.js'), 'leaderboard', '--data-dir', run.dataDir],
  ])
  assert.match(operator.stdout, new RegExp(` ${own} +night owls\n`))

  const { code, stderr } = await type('join', run.address, ...here, '--model', demoModel(), '--cpu')
  assert.is(code, 1)
  assert.match(stderr, /^prove-node: in_use: another process uses .*prove-node status/)

  let seen = node.lines.length
  await stated('pause', '--for', '2h')
  await node.until('the rest', ({ type: what, why }) => what === 'rest' && why === 'by its owner', seen)
  assert.match(await stated('status'), /\nnow +paused: by its owner, until /)

  seen = node.lines.length
  await stated('limits', 'set', 'threads=2', 'hours=00:00-24:00')
  assert.match(await stated('limits'), /^threads +2 /m)
  // Fewer than a group has rollouts: they take turns.
  await stated('limits', 'set', 'slots=3')
  await stated('resume')
  await node.until('a group', ({ type: what }) => what === 'group', seen)

  // The group in progress is delivered.
  await stated('finish')
  assert.is(await node.ended, 0, node.stderr)
  assert.match(await stated('verdicts'), / accepted, credit /)
  assert.match((await type('status', ...here)).stderr, /^prove-node: unreachable: no node is running on /)
  assert.match(await stated('limits'), /^hours +00:00-24:00 /m)

  // A killed node leaves its socket, which the next one replaces. Ctrl-C also ends a paused node.
  const killed = run.node('ann')
  await killed.until('its start', ({ type: what }) => what === 'ready')
  killed.kill('SIGKILL')
  await killed.ended
  const again = run.node('ann')
  await again.until('its policy', ({ type: what }) => what === 'policy')
  await stated('pause', '--now')
  await again.until('the rest', ({ type: what }) => what === 'rest')
  again.kill('SIGINT')
  assert.is(await again.ended, 0, again.stderr)

  // The pause survives: the next start is paused before it asks for work.
  const resting = run.node('ann')
  await resting.until('its word', ({ type: what, text }) => what === 'notice' && /^a pause from before/.test(`${text}`))
  await resting.until('the rest', ({ type: what, why }) => what === 'rest' && why === 'by its owner')
  assert.not.ok(resting.lines.some(({ type: what }) => what === 'leased' || what === 'group'))
  resting.kill('SIGINT')
  assert.is(await resting.ended, 0, resting.stderr)
  run.coordinator.kill('SIGTERM')
  assert.is(await run.coordinator.ended, 0)
  await nobodyLeft(on)
})

test.run()
