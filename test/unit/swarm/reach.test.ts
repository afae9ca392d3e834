import { multiaddr } from '@multiformats/multiaddr'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createGater } from '../../../swarm/gater.js'
import { systemClock } from '../../../swarm/index.js'
import { addressesToAnnounce } from '../../../swarm/peer-records.js'
import { couldBeOf, mayBeShared, type Reach, reachOf, widest } from '../../../swarm/reach.js'

const REACHES: readonly (readonly [string, Reach])[] = [
  ['/ip4/8.8.8.8/tcp/4001', 'anywhere'],
  ['/ip6/2606:4700::1111/tcp/4001', 'anywhere'],
  ['/dns4/prove.example/tcp/443', 'anywhere'],
  ['/dns4/localhost/tcp/4001', 'machine'],
  ['/dns4/printer.local/tcp/4001', 'network'],
  ['/ip4/127.0.0.1/tcp/4001', 'machine'],
  ['/ip6/::1/tcp/4001', 'machine'],
  ['/ip4/10.1.2.3/tcp/4001', 'network'],
  ['/ip4/192.168.1.7/tcp/4001', 'network'],
  ['/ip6/fd00:1234::1/tcp/4001', 'network'],
  ['/ip4/0.0.0.0/tcp/4001', 'nowhere'],
  ['/ip6/::/tcp/4001', 'nowhere'],
  ['/ip4/169.254.3.4/tcp/4001', 'nowhere'],
  ['/unix/tmp%2Fsocket', 'nowhere'],
  ['/ip4/8.8.8.8/tcp/4001/ws', 'nowhere'],
  ['/ip4/8.8.8.8/udp/4001/quic-v1', 'nowhere'],
  ['/ip4/8.8.8.8/tcp/4001/p2p-circuit', 'nowhere'],
]
for (const [address, reach] of REACHES) {
  test(`the reach of ${address} is ${reach}`, () => assert.is(reachOf(address), reach))
}

test('private addresses are shared only with peers in the same network, public addresses with all peers', () => {
  const [home, neighbour, elsewhere, outside] = [
    '/ip4/192.168.1.7/tcp/50000',
    '/ip4/192.168.1.8/tcp/50000',
    '/ip4/192.168.9.8/tcp/50000',
    '/ip4/8.8.4.4/tcp/50000',
  ]
  const own = '/ip4/192.168.1.7/tcp/4001'
  assert.is(mayBeShared(own, { of: home, to: neighbour }), true)
  for (const to of [elsewhere, outside, null]) assert.is(mayBeShared(own, { of: home, to }), false)
  assert.is(mayBeShared(own, { of: outside, to: neighbour }), false)
  const loopback = { of: '/ip4/127.0.0.1/tcp/1', to: '/ip4/127.0.0.1/tcp/2' }
  assert.is(mayBeShared('/ip4/127.0.0.1/tcp/4001', loopback), true)
  assert.is(mayBeShared('/ip4/127.0.0.1/tcp/4001', { of: home, to: neighbour }), false)
  assert.is(mayBeShared(own, loopback), false)
  for (const to of [home, outside, null]) {
    assert.is(mayBeShared('/ip4/8.8.8.8/tcp/4001', { of: outside, to }), true)
    assert.is(mayBeShared('/ip4/0.0.0.0/tcp/4001', { of: home, to }), false)
  }
})

test('an address can belong to a peer that is connected from it, and a name to any peer', () => {
  const of = '/ip4/8.8.8.8/tcp/50000'
  assert.is(couldBeOf('/ip4/8.8.8.8/tcp/4001', of), true)
  assert.is(couldBeOf('/dns4/prove.example/tcp/4001', of), true)
  assert.is(couldBeOf('/ip4/8.8.8.9/tcp/4001', of), false)
  assert.is(couldBeOf('/ip6/2606:4700::1111/tcp/4001', of), false)
})

test('the addresses that a host announces depend on the reach of its run', () => {
  const all = REACHES.map(([address]) => multiaddr(address)).filter((address) => !`${address}`.includes('unix'))
  const stated = (reach: Reach | null): Reach[] => [
    ...new Set(addressesToAnnounce(all, reach).map((one) => reachOf(one))),
  ]
  assert.equal(stated('anywhere'), ['anywhere'])
  assert.equal(stated('network'), ['anywhere', 'network'])
  assert.equal(stated(null), ['anywhere'])
  const home = all.filter((address) => reachOf(address) !== 'anywhere')
  assert.equal([...new Set(widest(home).map((one) => reachOf(one)))], ['network'])
})

const gater = (onMachine: boolean, dialsPerMinute = 100) =>
  createGater({
    clock: systemClock,
    dialsPerMinute,
    onMachine,
    connectionsTo: (peer) => (`${peer}`.startsWith('many') ? 1000 : 0),
    connectionsFrom: (host) => (host === '8.8.8.8' ? 100_000 : 0),
  })

test('a host dials no address that peers name on its own machine or in a network that it is not in', async () => {
  const { denyDialMultiaddr, deliberately } = gater(false)
  const denied = (address: string): unknown => denyDialMultiaddr!(multiaddr(address))
  assert.is(denied('/ip4/127.0.0.1/tcp/22'), true)
  // A documentation address: no machine has an interface in this network.
  assert.is(denied('/ip4/198.51.100.9/tcp/22'), true)
  assert.is(denied('/ip4/0.0.0.0/tcp/22'), true)
  assert.is(denied('/ip4/8.8.8.8/tcp/4001'), false)
  await deliberately('/ip4/198.51.100.9/tcp/22', async () => assert.is(denied('/ip4/198.51.100.9/tcp/22'), false))
  assert.is(denied('/ip4/198.51.100.9/tcp/22'), true)
  assert.is(gater(true).denyDialMultiaddr!(multiaddr('/ip4/127.0.0.1/tcp/22')), false)
})

test('dials of addresses that peers name are limited per minute, dials of the user’s addresses are not', async () => {
  const { denyDialMultiaddr, deliberately } = gater(false, 4)
  const address = '/ip4/8.8.8.8/tcp/4001'
  const denied = (): unknown => denyDialMultiaddr!(multiaddr(address))
  assert.is(denied(), false)
  assert.is(denied(), true)
  await deliberately(address, async () => assert.is(denied(), false))
})

test('connections from one address, and from one peer, are limited', () => {
  const { denyInboundConnection, denyInboundUpgradedConnection } = gater(false)
  const from = (address: string) => ({ remoteAddr: multiaddr(address) }) as never
  assert.is(denyInboundConnection!(from('/ip4/8.8.8.8/tcp/1')), true)
  assert.is(denyInboundConnection!(from('/ip4/8.8.4.4/tcp/1')), false)
  assert.is(denyInboundUpgradedConnection!('many' as never, from('/ip4/8.8.4.4/tcp/1')), true)
  assert.is(denyInboundUpgradedConnection!('few' as never, from('/ip4/8.8.4.4/tcp/1')), false)
})

test.run()
