import '../../../swarm/polyfill.js'
import { multiaddr } from '@multiformats/multiaddr'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { tcpByAddress } from '../../../swarm/tcp-by-address.js'

const log = Object.assign(() => undefined, { error: () => undefined, trace: () => undefined, newScope: () => log })
const components = { logger: { forComponent: () => log } } as unknown as Parameters<ReturnType<typeof tcpByAddress>>[0]

/** Nobody listens there. */
const NOWHERE = '/dns4/two.test/tcp/1'

const failureOf = async (found: readonly string[], mayDial: (address: string) => boolean = () => true) => {
  const transport = tcpByAddress(
    (_, address) => mayDial(address.toString()),
    async () => found.map((address) => ({ address, family: 4 })),
  )(components)
  const options = { signal: AbortSignal.timeout(60_000) } as unknown as Parameters<typeof transport.dial>[1]
  return transport.dial(multiaddr(NOWHERE), options).then(
    () => 'connected',
    (error: Error) => error.message,
  )
}

test('a name whose addresses all fail tells why each of them did', async () => {
  const why = await failureOf(['127.0.0.1', '127.0.0.2'])
  assert.match(why, /^\/ip4\/127\.0\.0\.1\/tcp\/1: .*ECONNREFUSED.*; \/ip4\/127\.0\.0\.2\/tcp\/1: .*ECONNREFUSED/)
})

test('a name with one address fails as that address does', async () => {
  assert.match(await failureOf(['127.0.0.1']), /^[^;]*ECONNREFUSED 127\.0\.0\.1:1$/)
})

test('what may not be dialled is not, and not told of', async () => {
  assert.not.match(await failureOf(['127.0.0.1', '127.0.0.2'], (address) => address.includes('0.0.2')), /0\.0\.1/)
  assert.match(await failureOf(['127.0.0.1'], () => false), /what this name stands for is not dialled$/)
})

test.run()
