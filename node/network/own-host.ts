import type { Logger } from 'pino'
import { packageVersion } from '../../common/cli/index.js'
import {
  createHost,
  type Identity,
  type JoinAddress,
  type Metrics,
  reachOf,
  type SwarmHost,
  widest,
} from '../../swarm/index.js'
import { NodeError } from '../report/errors.js'
import { ownListenAddresses } from './listen-port.js'

/** How other nodes reach a node. */
export interface Whereabouts {
  /** Addresses to listen on; none: the node only dials out. Default: a port of this node, the same at each start. */
  readonly listen?: readonly string[]
  /** Addresses where other nodes can dial this one, if they differ from `listen`: behind a router that forwards a port. */
  readonly announce?: readonly string[]
}

export interface HostOptions extends Whereabouts {
  readonly coordinator: JoinAddress
  readonly dataDir: string
  readonly identity: Identity
  readonly logger: Logger
  readonly metrics: Metrics
}

/** Opens the libp2p host of a node. @throws NodeError `bad_listen` */
export async function openOwnHost({
  coordinator,
  dataDir,
  identity,
  logger,
  metrics,
  ...whereabouts
}: HostOptions): Promise<SwarmHost> {
  const { addresses } = coordinator
  const runReach = reachOf(widest(addresses)[0] ?? addresses[0]!)
  const { announce = [] } = whereabouts
  const listen = whereabouts.listen ?? (await ownListenAddresses(dataDir, runReach))
  // A run on one machine needs no help from the network, and sends it nothing.
  const discovery = runReach === 'machine' ? {} : { localNetwork: true, tryAddresses: true }
  return createHost({
    ...{ runId: coordinator.peerId, privateKey: identity.privateKey, program: packageVersion() },
    ...{ listen, announce, runReach, discovery, logger, metrics },
  }).catch((cause: Error) => {
    // The library appends a stack trace to its message.
    const reason = cause.message.split(/\n +at /)[0]!.replaceAll(/\s+/g, ' ')
    throw new NodeError('bad_listen', `${listen.join(', ')}: ${reason}`, { cause })
  })
}
