import { packageVersion } from '../../common/cli/index.js'
import { createHost, type Identity, type Metrics, type SwarmHost } from '../../swarm/index.js'
import { ConfigError } from '../settings/config.js'
import type { CoordinatorOptions } from './progress.js'

/** Opens the libp2p host of the coordinator. @throws ConfigError when it cannot listen on an address of `listen` */
export function listenForPeers(
  identity: Identity,
  { config, logger, onProgress }: CoordinatorOptions,
  metrics: Metrics,
): Promise<SwarmHost> {
  return createHost({
    privateKey: identity.privateKey,
    runId: identity.peerId,
    listen: config.listen,
    announce: config.announce,
    discovery: { tryAddresses: true },
    program: packageVersion(),
    logger,
    metrics,
    onRefusal: (refusal) => onProgress({ type: 'refusal', refusal }),
  }).catch((cause: Error) => {
    // The message of libp2p ends with a stack trace.
    const reason = cause.message.split(/\n +at /)[0]!.replaceAll(/\s+/g, ' ')
    throw new ConfigError(`listen: ${config.listen.join(', ')}: ${reason}`, { cause })
  })
}
