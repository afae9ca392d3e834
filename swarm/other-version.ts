/** The protocols and the program that a peer reports in identify. */
export interface PeerProtocols {
  readonly protocols: readonly string[]
  /** The agent version of libp2p's identify. */
  readonly agent: string | undefined
}

/** Returns the agent version that a host reports in identify. */
export const programName = (version: string): string => `prove-swarm/${version}`

const NUMBERED = /^(\/prove\/[a-z]+\/)(\d{1,9})$/
const PROGRAM = /^prove-swarm\/(\d{1,9}\.\d{1,9}\.\d{1,9})(?: |$)/

/**
 * Explains to the user why a peer does not speak a protocol, and which program to install.
 * @returns null if the peer speaks no version of the protocol, or by now this one: it is of another kind, or was not ready
 */
export function otherVersion(protocol: string, { protocols, agent = '' }: PeerProtocols): string | null {
  const [, family, number] = NUMBERED.exec(protocol) ?? []
  const numbers = protocols.flatMap((name) => {
    const [, theirs, version] = NUMBERED.exec(name) ?? []
    return theirs === family && theirs !== undefined ? [Number(version)] : []
  })
  if (numbers.length === 0 || numbers.includes(Number(number))) return null
  const newest = Math.max(...numbers)
  const program = PROGRAM.exec(agent)?.[1]
  const what = `the peer speaks ${family}${newest}${program === undefined ? '' : ` (prove-swarm ${program})`}, but this program speaks ${protocol}`
  if (newest > Number(number))
    return `${what}: install ${program === undefined ? 'a newer version' : `prove-swarm ${program} or newer`}`
  return `${what}: ask its operator to update it, or install ${program === undefined ? 'an older version' : `prove-swarm ${program}`}`
}
