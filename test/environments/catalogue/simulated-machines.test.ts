import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { seededRandom } from '../../../servers/kernel/index.js'
import { createSimNetwork, createWire } from '../../chaos/sim-network.js'
import { type DiskFault, type Machine, startProcess } from '../../chaos/sim-process.js'
import { createVirtualClock, createVirtualTime } from '../../chaos/virtual-time.js'

/** The machines on which chaos scenarios run: what they do must be exact, or a scenario proves nothing. */

const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const machine = (faultAt: Machine['faultAt'] = () => null): Machine => ({
  ...{ name: 'm', folder: '/nowhere', clockOffsetMs: 0, diskMs: () => 0, faultAt },
})

test('time jumps to what is due next, and what is due together keeps its order', async () => {
  const time = createVirtualTime(quiet)
  const startMs = time.nowMs
  const seen: string[] = []
  const note = (name: string) => () => void seen.push(`${name} ${time.nowMs - startMs}`)
  for (const [ms, name] of [
    [30, 'c'],
    [10, 'a'],
    [30, 'd'],
    [20.2, 'b'],
  ] as const)
    time.after(ms, note(name))
  time.after(15, note('never'))()
  await time.drive(() => seen.length === 4, 100)
  assert.equal(seen, ['a 10', 'b 21', 'c 30', 'd 30'])
})

test('a run that takes too long, or in which nothing can happen any more, is an error and no endless loop', async () => {
  const time = createVirtualTime(quiet)
  const failure = (limitMs: number): Promise<string> =>
    time
      .drive(() => false, limitMs)
      .then(
        () => 'done',
        (why: Error) => why.message,
      )
  assert.is(await failure(10), 'nothing is left that could happen')
  time.after(50, () => undefined)
  assert.is(await failure(10), 'not done after 10 ms of virtual time')
})

test('a sleep ends in virtual time or with its signal, and a clock that jumps changes no wait', async () => {
  const time = createVirtualTime(quiet)
  let offsetMs = 0
  const clock = createVirtualClock(
    time,
    () => offsetMs,
    () => true,
  )
  const began = time.nowMs
  const stop = new AbortController()
  const ends: string[] = []
  clock.sleep(1000).then(() => ends.push(`slept ${time.nowMs - began}`))
  clock.sleep(5000, stop.signal).catch((why: Error) => ends.push(`${why.message} ${time.nowMs - began}`))
  const timeout = clock.timeout(2000)
  timeout.addEventListener('abort', () => ends.push(`${(timeout.reason as Error).name} ${time.nowMs - began}`))
  offsetMs = -3_600_000
  assert.is(clock.now(), began - 3_600_000)
  time.after(3000, () => stop.abort(new Error('stopped')))
  await time.drive(() => ends.length === 3, 10_000)
  assert.equal(ends, ['slept 1000', 'TimeoutError 2000', 'stopped 3000'])
})

test('a process that is killed wakes no more, and its disk operation comes back to nobody', async () => {
  for (const [fault, reached] of [
    ['crash-before', false],
    ['crash-after', true],
  ] as const) {
    const time = createVirtualTime(quiet)
    const process = startProcess(
      machine(({ number }) => (number === 2 ? fault : null)),
      time,
    )
    let done = false
    let cameBack = 0
    let killed = 0
    process.onKill(() => killed++)
    process.clock.sleep(100).then(() => cameBack++)
    assert.is(await process.disk('first', true, async () => 'result'), 'result')
    const write = async (): Promise<void> => {
      done = true
    }
    process.disk('second', true, write).then(() => cameBack++)
    await quiet()
    process.disk('third', true, write).then(() => cameBack++)
    let over = false
    time.after(1000, () => {
      over = true
    })
    await time.drive(() => over, 2000)
    assert.equal([done, cameBack, killed, process.alive], [reached, 0, 1, false])
  }
})

test('a full disk refuses what needs room and nothing else', async () => {
  const full = (): DiskFault => 'no-space'
  const process = startProcess(machine(full), createVirtualTime(quiet))
  const failed = await process.disk('write', true, async () => undefined).catch((why: { code: string }) => why.code)
  assert.is(failed, 'ENOSPC')
  assert.is(await process.disk('read', false, async () => 'content'), 'content')
})

test('bytes arrive in order; a partition holds them until it heals, and a closed wire drops them', async () => {
  const time = createVirtualTime(quiet)
  const network = createSimNetwork(time, seededRandom(1))
  network.everywhere({ delayMs: 50, jitterMs: 100 })
  const wire = createWire(network, 'a', 'b')
  const arrived: number[] = []
  const pass = async (ms: number): Promise<void> => {
    let over = false
    time.after(ms, () => {
      over = true
    })
    await time.drive(() => over, ms + 1)
  }
  for (let i = 0; i < 20; i++) wire.send(10, () => arrived.push(i))
  await pass(200)
  assert.equal(arrived, [...Array(20).keys()])
  network.partition(['b'])
  wire.send(10, () => arrived.push(20))
  wire.send(10, () => arrived.push(21))
  await pass(5000)
  assert.is(arrived.length, 20)
  network.heal()
  await pass(200)
  assert.equal(arrived.slice(20), [20, 21])
  wire.send(10, () => arrived.push(22))
  wire.close()
  await pass(1000)
  assert.is(arrived.length, 22)
})

test.run()
