/** A peer's protocols and program, as it tells them of itself. */
export interface Spoken {
  readonly protocols: readonly string[]
  /** As libp2p's identify has it. */
  readonly agent: string | undefined
}

/** What a host calls its program when it identifies itself. */
export const programName = (version: string): string => `prove-swarm/${version}`

const NUMBERED = /^(\/prove\/[a-z]+\/)(\d{1,9})$/
const PROGRAM = /^prove-swarm\/(\d{1,9}\.\d{1,9}\.\d{1,9})(?: |$)/

/**
 * Why a peer that does not speak a protocol does not, for whoever can install another program.
 * @returns null when it speaks no version of it, or this one by now: then it is not of this kind, or was not ready yet
 */
export function otherVersion(protocol: string, { protocols, agent = '' }: Spoken): string | null {
  const [, family, number] = NUMBERED.exec(protocol) ?? []
  const numbers = protocols.flatMap((name) => {
    const [, theirs, version] = NUMBERED.exec(name) ?? []
    return theirs === family && theirs !== undefined ? [Number(version)] : []
  })
  if (numbers.length === 0 || numbers.includes(Number(number))) return null
  const newest = Math.max(...numbers)
  const program = PROGRAM.exec(agent)?.[1]
  const what = `it speaks ${family}${newest}${program === undefined ? '' : ` (prove-swarm ${program})`}, and this program ${protocol}`
  if (newest > Number(number))
    return `${what}: install ${program === undefined ? 'a newer one' : `prove-swarm ${program} or newer`}`
  return `${what}: ask its operator for a newer one, or install ${program === undefined ? 'an older one' : `prove-swarm ${program}`}`
}
