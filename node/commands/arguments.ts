import { InvalidArgumentError } from 'commander'
import { type Invitation, InvitationError, looksLikeInvitation, parseInvitation } from '../../proto/index.js'
import { invitedAddress, type JoinAddress, parseJoinAddress } from '../../swarm/index.js'

/** A run that the command line names. */
export interface NamedRun {
  readonly coordinator: JoinAddress
  /** Null: the command line gives only an address. */
  readonly invitation: Invitation | null
  /** The text of the command line. */
  readonly text: string
}

/** The argument for a run: name and description. */
export const RUN_ARGUMENT = [
  '<run>',
  'an invitation (prove3-…), or the coordinator’s address, ending in /p2p/ and its key',
] as const

/**
 * Parses a run from the command line. The returned function checks the signature of an invitation.
 * @throws InvalidArgumentError for an invalid address; the function rejects with an InvitationError
 */
export const runArgument = (text: string): (() => Promise<NamedRun>) => {
  if (looksLikeInvitation(text)) return () => invitedRun(text)
  try {
    const coordinator = parseJoinAddress(text)
    return async () => ({ coordinator, invitation: null, text })
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}

/** Adds a node of a run to the earlier ones. @throws InvalidArgumentError */
export const nodeOption = (text: string, earlier: readonly JoinAddress[]): JoinAddress[] => {
  try {
    return [...earlier, parseJoinAddress(text)]
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}

async function invitedRun(text: string): Promise<NamedRun> {
  const invitation = await parseInvitation(text)
  try {
    return { coordinator: invitedAddress(invitation), invitation, text: text.replaceAll(/\s+/g, '') }
  } catch (cause) {
    throw new InvitationError('malformed', (cause as TypeError).message, { cause })
  }
}
