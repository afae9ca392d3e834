import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LIMITS } from '../../../proto/index.js'
import type { ByteStream } from '../../../swarm/byte-stream.js'
import { createInboundStreams, type InboundStream } from '../../../swarm/inbound-streams.js'
import { createServing, type PeerStanding } from '../../../swarm/serving.js'
import { createMovedClock } from '../../support/moved-clock.js'

const MOST = LIMITS.inboundStreams.value
const PER_PEER = LIMITS.inboundStreamsPerPeer.value
const GUARANTEED = LIMITS.guaranteedStreams.value

/** Peers are named `standing/block/number`. */
function openHost() {
  const clock = createMovedClock()
  const serving = createServing({
    ...{ clock, runId: 'run' },
    connections: (peer) => [{ address: `/ip4/203.0.${peer.split('/')[1]}.7/tcp/4001` }],
  })
  serving.knowStandings((peer) => peer.split('/')[0] as PeerStanding)
  const crowds: unknown[] = []
  serving.onCrowded((crowding) => crowds.push(crowding))
  const refused: string[] = []
  const streams = createInboundStreams({ serving, clock, onRefusal: ({ peer }) => refused.push(peer) }, '/test/1')
  const open: { readonly peer: string; isOpen: boolean; readonly place: InboundStream }[] = []
  const take = (peer: string): boolean => {
    const entry = { peer, isOpen: true, place: null as unknown as InboundStream }
    const bytes = { abort: () => void (entry.isOpen = false) } as unknown as ByteStream
    const place = streams.take(bytes, peer)
    if (!place) return false
    place.waits(false)
    open.push(Object.assign(entry, { place }))
    return true
  }
  const fill = (peerOf: (i: number) => string, count = MOST): void => {
    for (let i = 0; i < count; i++) take(peerOf(i))
  }
  const countOf = (beginning: string): number =>
    open.filter(({ peer, isOpen }) => isOpen && peer.startsWith(beginning)).length
  return { clock, take, fill, countOf, refused, crowds, open }
}

const oneBlock = (i: number): string => `stranger/1/${Math.floor(i / PER_PEER)}`

test('a peer has a few streams, and all peers together a bounded number', () => {
  const { take, fill, countOf, refused } = openHost()
  for (let i = 0; i < PER_PEER; i++) assert.ok(take('stranger/1/a'))
  assert.not(take('stranger/1/a'))
  fill((i) => `stranger/${i % 100}/${i}`, 2 * MOST)
  assert.is(countOf(''), MOST)
  assert.ok(refused.length > 0)
})

test('keys of one address that hold all streams give way to every other block, and to a new key of their own', () => {
  const { take, fill, countOf, crowds } = openHost()
  fill(oneBlock, 34 * PER_PEER)
  assert.is(countOf('stranger/1'), MOST)
  for (let i = 0; i < 20; i++) assert.ok(take(`stranger/2/${i}`))
  assert.is(countOf('stranger/2'), 20)
  assert.ok(take('stranger/1/late'))
  assert.is(countOf(''), MOST)
  assert.equal(crowds[0], {
    ...{ protocol: '/test/1', streams: MOST, block: 'ip4/cb0001', ofBlock: MOST, keysOfBlock: MOST / PER_PEER },
  })
})

test('reliable keys always find a stream, and strangers keep their guaranteed part', () => {
  const { take, fill, countOf } = openHost()
  fill((i) => `stranger/${i % 200}/${i}`)
  for (let i = 0; i < 1000; i++) take(`reliable/${i % 200}/${i % 500}`)
  assert.is(countOf('reliable'), MOST - GUARANTEED)
  assert.is(countOf('stranger'), GUARANTEED)
  for (let i = 0; i < GUARANTEED; i++) assert.ok(take(`registered/3/${i}`))
  assert.equal([countOf('registered'), countOf('stranger')], [GUARANTEED, GUARANTEED])
})

test('reliable keys of one block do not keep out reliable keys of another', () => {
  const { take, fill, countOf } = openHost()
  fill((i) => `reliable/1/${Math.floor(i / PER_PEER)}`)
  for (let i = 0; i < 10; i++) assert.ok(take(`reliable/2/${i}`))
  assert.is(countOf('reliable/2'), 10)
})

test('a full host drops first what waits for a request for some seconds', () => {
  const { clock, take, fill, countOf, open } = openHost()
  fill((i) => `registered/${i % 128}/${i}`)
  const [idle] = open
  idle!.place.waits(true)
  clock.advance(LIMITS.crowdedIdleMs.value - 1)
  assert.not(take('registered/1/1'), 'its block and its peer have as many as any, and none has waited for long')
  clock.advance(1)
  assert.ok(take('registered/1/1'))
  assert.not(idle!.isOpen)
  assert.is(countOf(''), MOST)
})

test.run()
