import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { durationArgument } from '../../../node/commands/control.js'
import { hoursLimit } from '../../../node/limits/hours.js'
import { changed, parseLimits, readChanges, readLimits, writeLimits } from '../../../node/limits/limits-file.js'
import { limitsInForce, notKept, sensorsFor } from '../../../node/limits/limits-in-force.js'
import { describeLimits, LIMIT_FIELDS, type LimitSettings, limitSettings } from '../../../node/limits/settings.js'
import type { Permit } from '../../../node/limits/work-limit.js'
import type { MachineReport } from '../../../node/machine/machine-watch.js'
import { othersAmong } from '../../../node/machine/nvidia.js'
import { known, unknown } from '../../../node/machine/sensor-reading.js'
import { idleOf } from '../../../node/machine/user-idle.js'
import type { NodeError } from '../../../node/report/errors.js'
import { keepPause, readPause } from '../../../node/session/kept-pause.js'
import { createOwnerRequest } from '../../../node/session/owner-request.js'
import { createMovedClock } from '../../support/moved-clock.js'

const test = suite('limits of a volunteer')

const zone = process.env.TZ
test.after(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

/** Whether a node may work at a local time, and when it may otherwise. */
const at = (hours: readonly string[], local: string): Permit =>
  hoursLimit(hours, () => new Date(local).getTime()).mayWork()
const until = (permit: Permit): string | null =>
  permit.ok ? null : new Date(permit.untilMs!).toLocaleString('sv-SE').slice(0, 16)

test('working hours over midnight include both sides of midnight, and exclude their end', () => {
  process.env.TZ = 'Europe/Berlin'
  const night = ['22:00-07:00']
  for (const time of ['22:00', '23:59', '00:00', '06:59']) assert.ok(at(night, `2026-05-04T${time}`).ok, time)
  assert.is(until(at(night, '2026-05-04T07:00')), '2026-05-04 22:00')
  assert.is(until(at(night, '2026-05-31T21:59')), '2026-05-31 22:00')
})

test('the end of a pause is the start of the next span, which may be on another day', () => {
  process.env.TZ = 'Europe/Berlin'
  const spans = ['06:00-08:00', '12:00-13:00', '20:00-24:00']
  assert.is(until(at(spans, '2026-05-04T09:00')), '2026-05-04 12:00')
  assert.is(until(at(spans, '2026-12-31T13:00')), '2026-12-31 20:00')
  assert.ok(at(spans, '2026-05-04T23:59').ok)
  assert.is(until(at(spans, '2027-01-01T00:00')), '2027-01-01 06:00')
})

test('a span that begins in the hour which daylight saving skips begins an hour later', () => {
  process.env.TZ = 'Europe/Berlin'
  // On 29 March 2026 there is no 02:30.
  const limit = ['02:30-05:00']
  assert.is(until(at(limit, '2026-03-29T01:00')), '2026-03-29 03:30')
  assert.ok(at(limit, '2026-03-29T03:00').ok, 'by the clock of the wall it is within')
  assert.is(until(at(limit, '2026-03-29T05:00')), '2026-03-30 02:30')
})

test('an hour that occurs twice at the end of daylight saving counts both times', () => {
  process.env.TZ = 'Europe/Berlin'
  const limit = hoursLimit(['02:00-03:00'], () => nowMs)
  // 25 October 2026, 02:30 in summer time and an hour later in winter time.
  let nowMs = Date.UTC(2026, 9, 25, 0, 30)
  assert.ok(limit.mayWork().ok)
  nowMs += 3_600_000
  assert.ok(limit.mayWork().ok)
  nowMs += 3_600_000
  assert.not(limit.mayWork().ok)
})

test('a pause outside of working hours ends at the stated minute', () => {
  process.env.TZ = 'America/New_York'
  const time = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  const span = fc.tuple(time, time).filter(([[h, m], [i, n]]) => h !== i || m !== n)
  const text = ([hour, minute]: readonly [number, number]): string =>
    `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
  fc.assert(
    fc.property(
      fc.array(span, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 0, max: 600_000 }),
      (spans, minutes) => {
        // From June on for 83 days: no clock is changed.
        const nowMs = Date.UTC(2026, 5, 1) + (minutes % 119_520) * 60_000
        const hours = spans.map(([from, to]) => `${text(from)}-${text(to)}`)
        const permit = hoursLimit(hours, () => nowMs).mayWork()
        if (permit.ok) return
        const start = permit.untilMs!
        assert.ok(start > nowMs)
        assert.ok(hoursLimit(hours, () => start).mayWork().ok)
        assert.not(hoursLimit(hours, () => start - 60_000).mayWork().ok)
      },
    ),
    { seed: 7 },
  )
})

const NOTHING: MachineReport = {
  mains: unknown('-'),
  celsius: unknown('no sensor'),
  idleMs: unknown('-'),
  othersOnGpu: unknown('-'),
  dataBytes: unknown('-'),
}
const month = () => ({ bytes: 3 * 2 ** 30, nextMs: 5000 })

const permitUnder = (settings: LimitSettings, sensed: Partial<MachineReport>): Permit =>
  limitsInForce(settings, { now: () => 0, sensed: { ...NOTHING, ...sensed }, month }).mayWork()

const CASES: readonly (readonly [LimitSettings, Partial<MachineReport>, Partial<MachineReport>, RegExp, boolean])[] = [
  [{ mains: true }, { mains: known(true) }, { mains: known(false) }, /battery/, true],
  [{ idle: 10 }, { idleMs: known(600_000) }, { idleMs: known(599_999) }, /last 10 min/, true],
  [{ gpuFree: true }, { othersOnGpu: known([]) }, { othersOnGpu: known(['blender']) }, /blender/, true],
  [{ maxTemperature: 80 }, { celsius: known(80) }, { celsius: known(81) }, /hotter than 80 °C/, true],
  [{ disk: 1 }, { dataBytes: known(2 ** 30) }, { dataBytes: known(1.5 * 2 ** 30) }, /has 1\.5 GiB/, false],
]
for (const [settings, good, bad, why, atOnce] of CASES) {
  const [name] = Object.keys(settings)
  test(`${name} pauses a node only while the limit is exceeded`, () => {
    assert.ok(permitUnder(settings, good).ok)
    const permit = permitUnder(settings, bad)
    assert.not(permit.ok)
    if (permit.ok) return
    assert.match(permit.why, why)
    assert.is(permit.atOnce ?? false, atOnce, 'somebody who needs the machine does not wait for a group')
    assert.ok(permitUnder({}, bad).ok, 'without the limit')
  })

  test(`${name} without a sensor reading pauses no node, and is reported`, () => {
    assert.ok(permitUnder(settings, {}).ok)
    assert.match(notKept(settings, NOTHING).join(), new RegExp(`^${name} has no effect here: `))
    assert.equal(notKept(settings, { ...NOTHING, ...good }), [])
    assert.is(sensorsFor(settings).length, 1)
  })
}

test('a machine that was too hot works again five degrees below the limit', () => {
  const stated = { ...NOTHING, celsius: known(81) as MachineReport['celsius'] }
  const limit = limitsInForce({ maxTemperature: 80 }, { now: () => 0, month, sensed: stated })
  const worksAt = (celsius: number): boolean => {
    stated.celsius = known(celsius)
    return limit.mayWork().ok
  }
  assert.equal([80, 81, 79, 76, 75, 79].map(worksAt), [true, false, false, false, true, true])
})

test('a pause for used up traffic ends with the month', () => {
  assert.ok(permitUnder({ traffic: 3.1 }, {}).ok)
  const permit = permitUnder({ traffic: 3 }, {})
  assert.equal(permit, { ok: false, why: 'the 3 GiB of this month are used up', untilMs: 5000 })
})

test('a request of the owner overrides limits, a pause ends on time, and `finish` overrides everything', () => {
  const clock = createMovedClock()
  const wish = createOwnerRequest(clock, null, () => clock.now())
  const tight = { mayWork: (): Permit => ({ ok: false, why: 'too hot', atOnce: true }) }
  const loose = { mayWork: (): Permit => ({ ok: true }) }
  assert.equal(wish.dutyUnder(loose), { kind: 'work' })
  assert.equal(wish.dutyUnder(tight), { kind: 'rest', why: 'too hot', untilMs: null, atOnce: true })
  wish.pause(1000, false)
  assert.is((wish.dutyUnder(tight) as { why: string }).why, 'by its owner')
  clock.advance(999)
  assert.is(wish.dutyUnder(loose).kind, 'rest')
  clock.advance(1)
  assert.is(wish.dutyUnder(loose).kind, 'work')
  wish.pause(null, true)
  clock.advance(1e9)
  assert.is(wish.dutyUnder(loose).kind, 'rest')
  wish.resume()
  assert.is(wish.dutyUnder(tight).kind, 'rest')
  wish.pause(null, true)
  wish.finish()
  assert.is(wish.dutyUnder(tight).kind, 'finish')
})

test('a pause is never longer than asked, also if the clock of the system is set right meanwhile', () => {
  const loose = { mayWork: (): Permit => ({ ok: true }) }
  const HOUR = 3_600_000
  const YEAR = 365 * 24 * HOUR
  let [wall, steady] = [YEAR, 0]
  const clock = { now: () => wall }
  const wish = createOwnerRequest(clock, null, () => steady)
  wish.pause(2 * HOUR, false)
  const kept = wish.pausing
  // The clock was a year ahead.
  wall = 0
  steady = 2 * HOUR - 1
  assert.is(wish.dutyUnder(loose).kind, 'rest')
  steady += 1
  assert.is(wish.dutyUnder(loose).kind, 'work')
  const restarted = createOwnerRequest(clock, kept, () => steady)
  assert.is(restarted.dutyUnder(loose).kind, 'rest')
  steady += 2 * HOUR
  assert.is(restarted.dutyUnder(loose).kind, 'work')
})

test('a pause survives a restart, and ends on time even without a running node', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-pause-'))
  const clock = createMovedClock()
  const loose = { mayWork: (): Permit => ({ ok: true }) }
  const steady = () => clock.now()
  const started = async () => createOwnerRequest(clock, await readPause(folder), steady).dutyUnder(loose).kind
  try {
    assert.is(await started(), 'work')
    const wish = createOwnerRequest(clock, null, () => clock.now())
    wish.pause(1000, true)
    await keepPause(folder, wish.pausing)
    assert.is((await stat(join(folder, 'pause.json'))).mode & 0o777, 0o600)
    assert.equal(await readPause(folder), { untilMs: clock.now() + 1000, forMs: 1000, atOnce: true })
    clock.advance(999)
    assert.is(await started(), 'rest')
    clock.advance(1)
    assert.is(await started(), 'work')
    wish.pause(null, false)
    await keepPause(folder, wish.pausing)
    clock.advance(1e9)
    assert.is(await started(), 'rest')
    wish.resume()
    await keepPause(folder, wish.pausing)
    assert.is(await readPause(folder), null)
    await writeFile(join(folder, 'pause.json'), '{')
    const why = await readPause(folder).then(String, ({ code }: NodeError) => code)
    assert.is(why, 'unreadable')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('limits are written to a private file, and read back unchanged', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-limits-'))
  try {
    assert.equal(await readLimits(folder), {})
    const settings: LimitSettings = { threads: 4, gpu: 1, hours: ['22:00-07:00'], mains: true, memory: 2.5 }
    await writeLimits(folder, settings)
    assert.equal(await readLimits(folder), settings)
    assert.is((await stat(join(folder, 'limits.yaml'))).mode & 0o777, 0o600)
    await writeLimits(folder, {})
    assert.equal(await readLimits(folder), {})
    for (const [text, why] of [
      ['threads: 0', /threads: give an integer from 1 to 256/],
      ['treads: 2', /Unrecognized key: "treads". The limits are threads, slots/],
      ['hours: [night]', /hours: give spans such as/],
      ['threads: [', /limits\.yaml: .*line 1/],
      ['just words', /limits\.yaml: /],
      ['upload: 1', /upload: give a number from 32/],
    ] as const) {
      await writeFile(join(folder, 'limits.yaml'), text)
      const error = await readLimits(folder).catch((reason: unknown) => reason)
      assert.match((error as Error).message, why, text)
      assert.is((error as { code?: string }).code, 'bad_limits', text)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('changes of the command line are read by name, and `none` removes a limit', () => {
  const changes = readChanges([
    'threads=4',
    'hours=22:00-07:00,12:00-13:00',
    'mains=on',
    'gpu=none',
    'idle=none',
    'gpu-memory=50',
  ])
  assert.equal(changes, {
    threads: 4,
    hours: ['22:00-07:00', '12:00-13:00'],
    mains: true,
    gpu: 'none',
    idle: null,
    gpuMemory: 50,
  })
  assert.equal(changed({ idle: 5, disk: 3 }, changes), {
    disk: 3,
    threads: 4,
    hours: ['22:00-07:00', '12:00-13:00'],
    mains: true,
    gpu: 'none',
    gpuMemory: 50,
  })
  for (const word of [
    'threads',
    'threads=',
    'threads=two',
    'hours=25:00-26:00',
    'hours=07:00-07:00',
    'x=1',
    'mains=maybe',
    'gpu=-1',
  ])
    assert.throws(() => readChanges([word]), /^bad_limits: /, word)
})

test('every limit is in the table of limits, and has a description when it is set', () => {
  assert.equal(LIMIT_FIELDS.map(({ name }) => name).toSorted(), Object.keys(limitSettings.shape).toSorted())
  const all = parseLimits(
    {
      threads: 1,
      slots: 8,
      priority: 'low',
      gpu: 0,
      gpuMemory: 50,
      memory: 2,
      disk: 5,
      upload: 100,
      download: 100,
      traffic: 10,
      hours: ['01:00-02:00'],
      mains: true,
      idle: 5,
      gpuFree: true,
      maxTemperature: 80,
    },
    'all',
  )
  assert.is(describeLimits(all).length, LIMIT_FIELDS.length)
  assert.equal(describeLimits({ mains: false }), [])
})

test('a duration has seconds, minutes, hours and days', () => {
  assert.is(durationArgument('90m'), 5_400_000)
  assert.is(durationArgument('1h30m'), 5_400_000)
  for (const text of ['', '5', '2 h', 'h', '-1h', '0m', '91d', '1h30'])
    assert.throws(() => durationArgument(text), /Give a time/, text)
})

test('other programs on the GPU are listed by name, each once, without the engine', () => {
  const lines = ['1234, /usr/bin/blender', ' 99, /usr/bin/node ', '1235, /usr/bin/blender', '7, [Not Found]']
  assert.equal(othersAmong(lines, 99), ['blender', 'process 7'])
  assert.equal(othersAmong([], undefined), [])
})

test('the last use by any logged-in user counts, and services do not count', () => {
  const session = (kind: string, idle: string, sinceUs: number): string =>
    `IdleHint=${idle}\nIdleSinceHint=${sinceUs}\nClass=${kind}\n`
  const nowMs = 10_000_000
  assert.is(idleOf(session('user', 'yes', 9_000_000_000), nowMs), 1_000_000)
  assert.is(idleOf([session('user', 'yes', 9_000_000_000), session('user', 'no', 0)].join('\n'), nowMs), 0)
  assert.is(idleOf(session('greeter', 'no', 0), nowMs), Number.POSITIVE_INFINITY)
})

test.run()
