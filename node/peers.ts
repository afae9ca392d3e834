import type { SwarmHost } from '../swarm/index.js'

/** Who may have manifests and files: the coordinator, then whoever is connected otherwise than through a relay. */
export const peersOf = (host: Pick<SwarmHost, 'connections'>, coordinator: string): string[] => [
  coordinator,
  ...host.connections().flatMap(({ peer, limited }) => (limited || peer === coordinator ? [] : [peer])),
]
