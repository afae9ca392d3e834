import type { Logger } from 'pino'
import { packageVersion } from '../../common/cli/index.js'
import {
  createHost,
  type Finding,
  type Identity,
  type JoinAddress,
  type Metrics,
  reachOf,
  type SwarmHost,
  widest,
} from '../../swarm/index.js'
import { NodeError } from '../report/errors.js'
import type { NodeProgress } from '../report/progress.js'
import { ownListenAddresses } from './listen-port.js'

/** How other nodes reach a node. */
export interface Whereabouts {
  /** Addresses to listen on; none: the node only dials out. Default: a port of this node, the same at each start. */
  readonly listen?: readonly string[]
  /** Addresses where other nodes can dial this one, if they differ from `listen`: behind a router that forwards a port. */
  readonly announce?: readonly string[]
  /** Whether the node relays small messages between nodes that cannot dial each other. */
  readonly relay?: boolean
  /** Whether the node asks the router to forward its port. Default: it does not. */
  readonly mapPort?: boolean
}

export interface HostOptions extends Whereabouts {
  readonly coordinator: JoinAddress
  readonly dataDir: string
  readonly identity: Identity
  readonly logger: Logger
  readonly metrics: Metrics
  readonly onProgress: (progress: NodeProgress) => void
}

/** @param listens  whether the node has a port that others could dial */
export const findingOf = ({ relay = false, mapPort = false }: Whereabouts, listens: boolean): Finding => ({
  relay: relay ? 'offered' : 'used',
  localNetwork: true,
  portMapping: listens && mapPort,
  tryAddresses: true,
})

/** Opens the libp2p host of a node. @throws NodeError `bad_listen` */
export async function openOwnHost({
  coordinator,
  dataDir,
  identity,
  logger,
  metrics,
  onProgress,
  ...whereabouts
}: HostOptions): Promise<SwarmHost> {
  const { addresses } = coordinator
  const runReach = reachOf(widest(addresses)[0] ?? addresses[0]!)
  const { announce = [] } = whereabouts
  const listen = whereabouts.listen ?? (await ownListenAddresses(dataDir, runReach))
  // A run on one machine needs no help from the network, and sends it nothing.
  const finding = runReach === 'machine' ? {} : findingOf(whereabouts, listen.length > 0)
  if (finding.portMapping) onProgress({ type: 'notice', text: `asking the router to forward a port to ${listen[0]}` })
  return createHost({
    ...{ runId: coordinator.peerId, privateKey: identity.privateKey, program: packageVersion() },
    ...{ listen, announce, runReach, finding, logger, metrics },
  }).catch((cause: Error) => {
    // The library appends a stack trace to its message.
    const reason = cause.message.split(/\n +at /)[0]!.replaceAll(/\s+/g, ' ')
    throw new NodeError('bad_listen', `${listen.join(', ')}: ${reason}`, { cause })
  })
}
