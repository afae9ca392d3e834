import '../../../swarm/polyfill.js'
import { multiaddr } from '@multiformats/multiaddr'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { tcpByAddress } from '../../../swarm/tcp-by-address.js'

const log = Object.assign(() => undefined, { error: () => undefined, trace: () => undefined, newScope: () => log })
const components = { logger: { forComponent: () => log } } as unknown as Parameters<ReturnType<typeof tcpByAddress>>[0]

/** No program listens at this address. */
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

test('the error for a name contains the failure of each of its addresses', async () => {
  const why = await failureOf(['127.0.0.1', '127.0.0.2'])
  assert.match(why, /^\/ip4\/127\.0\.0\.1\/tcp\/1: .*ECONNREFUSED.*; \/ip4\/127\.0\.0\.2\/tcp\/1: .*ECONNREFUSED/)
})

test('the error for a name with one address is the error of that address', async () => {
  assert.match(await failureOf(['127.0.0.1']), /^[^;]*ECONNREFUSED 127\.0\.0\.1:1$/)
})

test('forbidden addresses of a name are neither dialled nor named in the error', async () => {
  assert.not.match(await failureOf(['127.0.0.1', '127.0.0.2'], (address) => address.includes('0.0.2')), /0\.0\.1/)
  assert.match(
    await failureOf(['127.0.0.1'], () => false),
    /this name resolves only to addresses that a peer may not name$/,
  )
})

test.run()
