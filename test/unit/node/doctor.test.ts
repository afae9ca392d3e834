import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CHECKS, make } from '../../../node/doctor/checks.js'
import { speedFinding } from '../../../node/doctor/engine-checks.js'
import type { Examination } from '../../../node/doctor/examination.js'
import { type Finding, ok } from '../../../node/doctor/finding.js'
import { clockFinding } from '../../../node/doctor/run-checks.js'
import { groupSeconds } from '../../../node/work/engine-speed.js'
import { TransportError } from '../../../swarm/index.js'
import { flightManifest as manifest } from '../../support/proto-samples.js'

const never = new AbortController().signal
const nobody = {} as Examination
const gradeOf = ({ grade }: Finding): string => grade

test('a clock difference counts beyond the time of the answer, and has a direction', () => {
  assert.equal(clockFinding(100, 20).grade, 'ok')
  assert.equal(
    [6_000, -6_000].map((ms) => gradeOf(clockFinding(ms, 100))),
    ['warning', 'warning'],
  )
  assert.is(gradeOf(clockFinding(6_000, 4_000)), 'ok')
  assert.equal(
    [90_000, -90_000].map((ms) => gradeOf(clockFinding(ms, 100))),
    ['problem', 'problem'],
  )
  assert.match(clockFinding(90_000, 100).found, /90s behind the coordinator's|1m behind the coordinator's/)
  assert.match(clockFinding(-90_000, 100).found, /ahead of the coordinator's/)
})

test('a speed is compared with the lease, and with the lease with all renewals', () => {
  const run = (leaseMs: number) => ({
    limits: { ...manifest.limits, groupSize: 4, maxRolloutTokens: 4000 },
    taskSpec: { leaseMs: String(leaseMs) },
  })
  // A usual rollout: 500 tokens of prompt and 500 sampled, in four slots.
  const speed = { promptPerSecond: 500, sampledPerSecond: 20 }
  assert.is(groupSeconds(speed, { slots: 4, promptTokens: 500, sampledTokens: 500 }), 101)
  assert.is(gradeOf(speedFinding(speed, run(102_000))), 'ok')
  assert.is(gradeOf(speedFinding(speed, run(100_000))), 'warning')
  assert.is(gradeOf(speedFinding(speed, run(25_000))), 'problem')
  assert.is(gradeOf(speedFinding(speed, { ...run(1), taskSpec: {} })), 'unknown')
})

test('a check that never ends, or has no run, or fails does not end the examination', async () => {
  const check = (look: () => Promise<Finding>) => ({ name: 'x', limitMs: 5, look })
  const slow = await make(
    check(() => new Promise(() => {})),
    nobody,
    never,
  )
  assert.is(slow.grade, 'problem')
  assert.match(slow.found, /longer than/)
  const failing = (error: Error) =>
    make(
      check(async () => {
        throw error
      }),
      nobody,
      never,
    )
  assert.is((await failing(new TransportError('unreachable', 'x'))).grade, 'unknown')
  assert.equal((await failing(new Error('no idea'))).found, 'no idea')
  assert.equal(
    await make(
      check(async () => ok('fine')),
      nobody,
      never,
    ),
    ok('fine'),
  )
})

test('an interruption ends the examination during a check', async () => {
  const stop = new AbortController()
  const made = make({ name: 'x', limitMs: 1e6, look: () => new Promise(() => {}) }, nobody, stop.signal)
  stop.abort(new Error('stopped'))
  assert.is(await made.then(String, (error: Error) => error.message), 'stopped')
})

test('every check has a unique name and a time limit', () => {
  assert.is(new Set(CHECKS.map(({ name }) => name)).size, CHECKS.length)
  for (const { name, limitMs } of CHECKS) assert.ok(limitMs > 0 && limitMs <= 600_000, name)
})

test.run()
