import { type OnRefusal, type SwarmHost, type SwarmLogger, silentLogger, TransportError } from '../../swarm/index.js'
import { createServing } from '../../swarm/serving.js'
import { type ConnectionEnd, connect, disconnect } from './sim-connection.js'
import { createSimGossip, type SimGossip } from './sim-gossip.js'
import type { SimNetwork } from './sim-network.js'
import type { SimProcess } from './sim-process.js'
import { SimStream } from './sim-stream.js'

/** A host as other simulated hosts see it. */
export interface SimHost extends SwarmHost {
  readonly machine: string
  readonly alive: boolean
  readonly gossip: SimGossip
  readonly address: string
  /** Whether others can dial it. */
  readonly isDialable: boolean
  readonly handlers: Map<string, (stream: SimStream, peer: string) => void>
  readonly ends: Set<ConnectionEnd>
  /** A connection has been made by someone. */
  attach(end: ConnectionEnd): void
  detach(end: ConnectionEnd): void
}

/** Who can be reached; a key may be used by several at once. */
export class HostDirectory {
  readonly #hosts = new Map<string, Set<SimHost>>()
  add(host: SimHost): void {
    const alike = this.#hosts.get(host.peerId)
    if (alike) alike.add(host)
    else this.#hosts.set(host.peerId, new Set([host]))
  }
  remove(host: SimHost): void {
    this.#hosts.get(host.peerId)?.delete(host)
  }
  /** The one that came first. */
  find(peer: string): SimHost | undefined {
    return this.#hosts.get(peer)?.values().next().value
  }
}

export interface SimHostOptions {
  readonly network: SimNetwork
  readonly directory: HostDirectory
  readonly process: SimProcess
  readonly peerId: string
  readonly runId: string
  /** Where it is on the network, with its key. Default: an address of the loopback, the same for all. */
  readonly address?: string
  /** Whether others can dial it there. Default: only the coordinator is dialled. */
  readonly isDialable?: boolean
  /** How its messages reach others. Default: over all connections, to all. */
  readonly gossip?: (host: SimHost, alive: () => boolean) => SimGossip
  readonly onRefusal?: OnRefusal
  readonly logger?: SwarmLogger
}

export const addressOf = (peerId: string): string => `/ip4/127.0.0.1/tcp/4001/p2p/${peerId}`

export function createSimHost(options: SimHostOptions): SimHost {
  const { network, directory, process, peerId, runId, onRefusal = () => {}, logger = silentLogger } = options
  const { time, random } = network
  const machine = process.machine.name
  const { address = addressOf(peerId), isDialable = false } = options
  const ends = new Set<ConnectionEnd>()
  /** The same by peer, the oldest first. */
  const endsTo = new Map<string, Set<ConnectionEnd>>()
  const handlers: SimHost['handlers'] = new Map()
  const listeners = new Set<(event: { peer: string; connected: boolean }) => void>()
  const endTo = (peer: string): ConnectionEnd | undefined => endsTo.get(peer)?.values().next().value
  const tell = (peer: string, connected: boolean): void => {
    for (const listener of [...listeners]) listener({ peer, connected })
  }

  /** Waits until a signal or an answer, whichever comes first. */
  const answered = <T>(signal: AbortSignal, start: (settle: (outcome: () => T) => void) => void): Promise<T> =>
    new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason)
      if (signal.aborted) return onAbort()
      signal.addEventListener('abort', onAbort, { once: true })
      start((outcome) => {
        if (!process.alive || signal.aborted) return
        signal.removeEventListener('abort', onAbort)
        try {
          resolve(outcome())
        } catch (why) {
          reject(why)
        }
      })
    })

  const host: SimHost = {
    machine,
    peerId,
    runId,
    clock: process.clock,
    logger,
    onRefusal,
    serving: createServing({
      ...{ clock: process.clock, runId },
      connections: (peer) => [...(endsTo.get(peer) ?? [])].map(({ seen }) => seen),
    }),
    handlers,
    ends,
    get alive() {
      return process.alive
    },
    gossip: null as unknown as SimGossip,
    address,
    isDialable,
    addresses: () => [address],

    async dial(address, signal) {
      const peer = address.split('/').at(-1)!
      if (endTo(peer)) return peer
      return answered<string>(signal, (settle) => {
        const target = directory.find(peer)
        const roundTripMs = target ? 2 * network.travelMs(machine, target.machine, 0) : 1
        time.after(roundTripMs, () => {
          const found = directory.find(peer)
          // Nobody answers behind a partition, not even with a refusal.
          if (found && !(network.passes(machine, found.machine) && network.passes(found.machine, machine))) return
          settle(() => {
            if (!found) throw new TransportError('unreachable', address)
            if (!endTo(peer)) connect(network, host, found)
            return peer
          })
        })
      })
    },

    async dialPeer({ peerId: peer, addresses }, signal) {
      const isThere = (): boolean => !!directory.find(peer)?.isDialable
      if (!isThere() || peer === peerId) unreachable('dial', `${peer} at ${addresses.join(' ')}`)
      await host.dial(`/p2p/${peer}`, signal)
    },
    async answersAt(peer, at, signal) {
      return answered<boolean>(signal, (settle) => {
        const target = directory.find(peer)
        const answers = (): boolean => !!target?.alive && target.isDialable && at === target.address
        time.after(target ? 2 * network.travelMs(machine, target.machine, 0) : 1, () => settle(answers), machine)
      })
    },
    claimedAddresses: async (peer) => {
      const found = directory.find(peer)
      return found?.isDialable ? [found.address] : []
    },
    onFound: () => () => undefined,
    onOtherVersion: () => () => undefined,
    provenAddresses: () => [],

    async hangUp(peer) {
      for (const end of [...ends]) if (end.remote.peerId === peer) disconnect(end, new Error('hung up'))
    },

    connections: (peer) => [...(peer === undefined ? ends : (endsTo.get(peer) ?? []))].map(({ seen }) => seen),
    isConnected: (peer) => endTo(peer) !== undefined,

    async openStream(peer, protocol, { signal }) {
      const end = endTo(peer)
      if (!end) throw new TransportError('unreachable', `${protocol} of ${peer}`)
      const { remote } = end
      network.opened(machine, remote.machine, protocol)
      const breaks = (): boolean => {
        if (!random.chance(network.link(machine, remote.machine).breaks)) return false
        network.blow('connection broken')
        disconnect(end, new Error('the connection broke'))
        return true
      }
      const near = new SimStream(end.out, breaks)
      const opened = await answered<SimStream>(signal, (settle) => {
        const fail = (): void => settle(() => unreachable(protocol, peer))
        near.addEventListener('close', fail)
        end.streams.add(near)
        end.out.send(64, () => {
          const handler = remote.handlers.get(protocol)
          if (!handler) {
            end.other.out.send(16, fail)
            return
          }
          const far = new SimStream(end.other.out, breaks)
          near.other = far
          far.other = near
          end.other.streams.add(far)
          far.addEventListener('close', () => end.other.streams.delete(far))
          end.other.out.send(16, () => {
            near.removeEventListener('close', fail)
            settle(() => near)
          })
          handler(far, peerId)
        })
      }).catch((why: unknown) => {
        near.abort(new Error('not opened'))
        end.streams.delete(near)
        throw why
      })
      opened.addEventListener('close', () => end.streams.delete(opened))
      return opened.asStream
    },

    async handle(protocol, handler) {
      handlers.set(protocol, (stream, peer) => handler(stream.asStream, peer))
      return async () => {
        handlers.delete(protocol)
      }
    },

    onPeer(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    penalise: () => undefined,

    async close() {
      host.gossip.close()
      directory.remove(host)
      for (const end of [...ends]) disconnect(end, new Error('the host closed'))
    },

    attach(end) {
      const first = !endTo(end.remote.peerId)
      ends.add(end)
      const alike = endsTo.get(end.remote.peerId)
      if (alike) alike.add(end)
      else endsTo.set(end.remote.peerId, new Set([end]))
      if (first) tell(end.remote.peerId, true)
    },

    detach(end) {
      ends.delete(end)
      const alike = endsTo.get(end.remote.peerId)
      alike?.delete(end)
      if (alike?.size === 0) endsTo.delete(end.remote.peerId)
      if (process.alive && !endTo(end.remote.peerId)) tell(end.remote.peerId, false)
    },
  }
  const { gossip = (own, alive) => createSimGossip(network, own, alive) } = options
  Object.assign(host, { gossip: gossip(host, () => process.alive) })
  directory.add(host)
  // The machine's kernel closes the connections of a process that is gone.
  process.onKill(() => {
    directory.remove(host)
    for (const end of [...ends]) disconnect(end, new Error('the process ended'))
  })
  return host
}

const unreachable = (protocol: string, peer: string): never => {
  throw new TransportError('unreachable', `${protocol} of ${peer}`)
}
