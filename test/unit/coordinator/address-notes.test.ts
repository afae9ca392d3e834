import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { noteAddresses } from '../../../coordinator/intake/address-notes.js'
import { createIdleNodes } from '../../../coordinator/service/idle-nodes.js'
import { LIMITS } from '../../../proto/index.js'
import type { PeerConnection } from '../../../swarm/index.js'
import { createMovedClock } from '../../support/moved-clock.js'

/** More than are remembered of peers that only ask. */
const NODES = 2 * LIMITS.trackedPeers.value

test('where a node is connected from is known of each node of a large run', () => {
  const connections = Array.from(
    { length: NODES },
    (_, i): PeerConnection => ({
      peer: `node ${i}`,
      address: `/ip4/60.${i >> 8}.${i & 255}.7/tcp/4001`,
      ...{ direction: 'inbound', streams: 0 },
    }),
  )
  const ending = new AbortController()
  const host = { connections: () => connections, onPeer: () => () => undefined }
  const blockOf = noteAddresses(host, ending.signal)
  const blocks = new Set(connections.map(({ peer }) => blockOf(peer)))
  ending.abort()
  assert.is(blocks.size, NODES)
  assert.not.ok(blocks.has(null))
})

test('of the nodes of a large run that wait for work each is counted', () => {
  const idle = createIdleNodes(createMovedClock())
  for (let i = 0; i < NODES; i++) idle.answered(`node ${i}`, { leases: [], reason: 'no_work' })
  assert.is(idle.count(), NODES)
})

test.run()
