import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createTurns } from '../../../coordinator/intake/turns.js'

test('who is known to deliver goes before all others, and each line keeps its order', async () => {
  const turns = createTurns(1)
  const done: string[] = []
  const first = Promise.withResolvers<void>()
  const work = (name: string) => async () => {
    if (name === 'other 0') await first.promise
    done.push(name)
    return name
  }
  const all = [
    ...[0, 1, 2].map((i) => turns(false, work(`other ${i}`))),
    ...[0, 1].map((i) => turns(true, work(`reliable ${i}`))),
  ]
  first.resolve()
  assert.equal(await Promise.all(all), ['other 0', 'other 1', 'other 2', 'reliable 0', 'reliable 1'])
  assert.equal(done, ['other 0', 'reliable 0', 'reliable 1', 'other 1', 'other 2'])
})

test('one at a time, and work that fails fails alone', async () => {
  const turns = createTurns(1)
  let atWork = 0
  const work = async (i: number): Promise<number> => {
    atWork += 1
    assert.is(atWork, 1)
    await Promise.resolve()
    atWork -= 1
    if (i === 1) throw new Error('no')
    return i
  }
  const settled = await Promise.allSettled([0, 1, 2].map((i) => turns(i === 2, () => work(i))))
  assert.equal(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.is(await turns(false, async () => 3), 3)
})

test('no more tasks than the limit run at a time', async () => {
  const turns = createTurns(2)
  const begun: number[] = []
  const ends = [0, 1, 2, 3].map(() => Promise.withResolvers<void>())
  const all = ends.map(({ promise }, i) =>
    turns(false, () => {
      begun.push(i)
      return promise
    }),
  )
  assert.equal(begun, [0, 1])
  ends[1]!.resolve()
  await all[1]
  // It is the next one's turn when the one before is done with.
  await new Promise(setImmediate)
  assert.equal(begun, [0, 1, 2])
  for (const { resolve } of ends) resolve()
  await Promise.all(all)
  assert.equal(begun, [0, 1, 2, 3])
})

test.run()
