import { Writable } from 'node:stream'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  createHost,
  createStderrLogger,
  keepConnected,
  parseJoinAddress,
  requestVerdicts,
  serveVerdicts,
  TransportError,
} from '../../swarm/index.js'
import { createTestSwarm, eventually, keyOf, soon, type TestNode, type TestSwarm } from '../support/swarm-nodes.js'

const test = suite<{ swarm: TestSwarm; coordinator: TestNode; volunteer: TestNode }>('joining')
test.before.each(async (context) => {
  context.swarm = await createTestSwarm()
  context.coordinator = await context.swarm.node(1)
  context.volunteer = await context.swarm.node(2, false)
})
test.after.each(({ swarm }) => swarm.close())

const NOBODY = '12D3KooWKRYhZeD3sAWvz1zaSsEXnwnktvv4iaprLHrCgZBZWyEq'

test('an address with another key, and an address without a listener, give distinct errors', async ({
  coordinator,
  volunteer,
}) => {
  const [address] = coordinator.host.addresses()
  const wrong = address!.replace(coordinator.host.peerId, NOBODY)
  for (const [at, why] of [
    [wrong, `${wrong}: .*${coordinator.host.peerId}.*${NOBODY}`],
    [`/ip4/127.0.0.1/tcp/1/p2p/${NOBODY}`, 'ECONNREFUSED'],
  ] as const) {
    const error = await volunteer.host.dial(at, soon()).catch((reason: unknown) => reason)
    assert.instance(error, TransportError)
    assert.match((error as TransportError).detail, new RegExp(why))
  }
})

test('a kept connection reports its problem until it is connected', async ({ coordinator, volunteer }) => {
  const [address] = coordinator.host.addresses()
  const wrong = address!.replace(coordinator.host.peerId, NOBODY)
  const lost = keepConnected(volunteer.host, { peerId: NOBODY, addresses: () => [wrong] })
  const kept = keepConnected(volunteer.host, { addresses: () => [address!], peerId: coordinator.host.peerId })
  try {
    await eventually('a reason', () => lost.problem !== null)
    assert.match(lost.problem!, new RegExp(`^${wrong}: `))
    await kept.connected(soon())
    assert.is(kept.problem, null)
  } finally {
    await lost.close()
    await kept.close()
  }
})

test('a connection by a host name reports the address behind the name', async ({ coordinator, volunteer }) => {
  const { peerId } = coordinator.host
  const named = coordinator.host.addresses()[0]!.replace('/ip4/127.0.0.1/', '/dns4/localhost/')
  assert.is(await volunteer.host.dial(named, soon()), peerId)
  assert.match(volunteer.host.connections(peerId)[0]!.address, /^\/ip4\/127\.0\.0\.1\/tcp\//)
})

test('a node joins over WebSocket', async ({ swarm, volunteer }) => {
  const listen = ['/ip4/127.0.0.1/tcp/0/ws']
  const host = await createHost({ privateKey: await keyOf(3), runId: swarm.runId, listen })
  try {
    await serveVerdicts(host, async () => ({ digest: new Uint8Array([7]), more: false }))
    await volunteer.host.dial(host.addresses()[0]!, soon())
    assert.match(volunteer.host.connections(host.peerId)[0]!.address, /\/ws\/p2p\//)
    const { digest } = await requestVerdicts(volunteer.host, host.peerId, { cursor: 0, max: 1 }, soon())
    assert.equal([...digest], [7])
  } finally {
    await host.close()
  }
})

test('an unknown host name gives its own error', async ({ volunteer }) => {
  const named = `/dns4/nobody.invalid/tcp/4001/p2p/${NOBODY}`
  const error = await volunteer.host.dial(named, soon()).catch((reason: unknown) => reason)
  assert.match((error as TransportError).detail, /nobody\.invalid/)
})

const REFUSED: readonly (readonly [string, RegExp])[] = [
  [`/ip4/127.0.0.1/tcp/1/quic-v1/p2p/${NOBODY}`, /\/quic-v1\/ cannot be dialled/],
  [`/ip4/127.0.0.1/tcp/1/p2p/${NOBODY}/p2p-circuit/p2p/${NOBODY}`, /\/p2p-circuit\/ cannot be dialled/],
  [`/tcp/4001/p2p/${NOBODY}`, /needs a host/],
]
for (const [text, why] of REFUSED) {
  test(`${text.slice(0, 40)} is refused before anything is started`, () => {
    assert.throws(() => parseJoinAddress(text), why)
  })
}

test('addresses of every dialable kind are accepted', () => {
  for (const host of [
    '/ip4/203.0.113.5',
    '/ip6/2001:db8::1',
    '/dns/example.org',
    '/dns4/example.org',
    '/dns6/example.org',
  ])
    for (const transport of ['', '/ws', '/wss', '/tls/ws'])
      assert.is(parseJoinAddress(`${host}/tcp/4001${transport}/p2p/${NOBODY}`).peerId, NOBODY)
})

test('the log contains the message and the cause of an error', () => {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const error = new TransportError('unreachable', 'there', { cause: new Error('connect ECONNREFUSED') })
  createStderrLogger('warn', stream).warn({ error }, 'cannot reach the coordinator')
  assert.match(lines[0]!, /unreachable: there/)
  assert.match(lines[0]!, /connect ECONNREFUSED/)
})

test.run()
