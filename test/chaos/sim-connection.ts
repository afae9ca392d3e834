import type { PeerConnection } from '../../swarm/index.js'
import type { SimHost } from './sim-host.js'
import { createWire, type SimNetwork, type Wire } from './sim-network.js'
import type { SimStream } from './sim-stream.js'

/** One side of a connection. */
export interface ConnectionEnd {
  readonly host: SimHost
  readonly remote: SimHost
  readonly out: Wire
  readonly streams: Set<SimStream>
  readonly direction: 'inbound' | 'outbound'
  /** As its host shows it. */
  readonly seen: PeerConnection
  other: ConnectionEnd
  open: boolean
}

/** Both sides give a connection up when nothing has passed for so long. */
const KEEP_ALIVE_MS = 30_000

/** Connects two hosts; the first has dialled. */
export function connect(network: SimNetwork, from: SimHost, to: SimHost): void {
  const side = (host: SimHost, remote: SimHost, direction: 'inbound' | 'outbound'): ConnectionEnd => {
    const streams = new Set<SimStream>()
    const { peerId: peer, address } = remote
    return {
      host,
      remote,
      direction,
      out: createWire(network, host.machine, remote.machine),
      streams,
      seen: {
        ...{ peer, address, direction },
        get streams() {
          return streams.size
        },
      },
      open: true,
      other: null as unknown as ConnectionEnd,
    }
  }
  const near = side(from, to, 'outbound')
  const far = side(to, from, 'inbound')
  near.other = far
  far.other = near
  from.attach(near)
  to.attach(far)
  if (!network.canBlock) return
  watch(network, near)
  watch(network, far)
}

/** One side drops a connection that a partition has cut for too long. */
function watch(network: SimNetwork, end: ConnectionEnd, partedForMs = 0): void {
  const EVERY_MS = 5000
  if (!end.open) return
  network.time.after(EVERY_MS, () => {
    if (!end.open) return
    const parted = network.parted(end.host.machine, end.remote.machine)
    if (parted && partedForMs + EVERY_MS >= KEEP_ALIVE_MS) {
      lose(end, new Error('nothing heard for too long'))
    } else watch(network, end, parted ? partedForMs + EVERY_MS : 0)
  })
}

/** One side ends a connection; the other learns of it when the news arrives. */
export function disconnect(end: ConnectionEnd, why: Error): void {
  if (!end.open) return
  end.out.send(0, () => lose(end.other, new Error('the other side closed the connection')))
  lose(end, why)
}

function lose(end: ConnectionEnd, why: Error): void {
  if (!end.open) return
  end.open = false
  // What is on its way to a side that is gone goes nowhere.
  end.other.out.close()
  for (const stream of [...end.streams])
    if (end.host.alive) stream.reset(why)
    else stream.cut()
  end.streams.clear()
  end.host.detach(end)
}
