import { readFile } from 'node:fs/promises'
import type { PrivateKey } from '@libp2p/interface'
import writeFileAtomic from 'write-file-atomic'
import { PRIVATE_FILE } from '../../common/control/index.js'
import { CodedError } from '../../common/errors/index.js'
import {
  type BlobDescription,
  chunkListSha256,
  invitationText,
  LIMITS,
  parseInvitation,
  sealInvitation,
} from '../../proto/index.js'
import { addressesForOthers, type DirectReach, type SwarmHost } from '../../swarm/index.js'
import type { RunConfig } from '../settings/config.js'
import { dataFolderOf } from '../settings/data-folder.js'

/** The invitation to a run. */
export interface RunInvitation {
  readonly text: string
  readonly sealed: Uint8Array
  /** From where its addresses can be dialled. */
  readonly reach: DirectReach
}

export interface InvitationParts {
  readonly config: Pick<RunConfig, 'about' | 'base'>
  readonly key: PrivateKey
  readonly base: BlobDescription
  readonly host: Pick<SwarmHost, 'addresses' | 'peerId' | 'clock' | 'logger'>
  /** File of the newest invitation. */
  readonly file: string
}

/** The coordinator has not written an invitation yet. */
export class NoInvitationError extends CodedError<'no_invitation'> {}

const LOOK_MS = 10_000

/**
 * Keeps the run's invitation and its file up to date until the signal fires, because addresses change while a host listens.
 * @param onChange  gets the first invitation before this resolves, and each later one
 */
export async function keepInvitation(
  parts: InvitationParts,
  onChange: (invitation: RunInvitation) => void,
  signal: AbortSignal,
): Promise<{ readonly current: RunInvitation; readonly ended: Promise<void> }> {
  const { host, file } = parts
  let known = ''
  let current: RunInvitation
  const renew = async (): Promise<RunInvitation> => {
    known = host.addresses().join(' ')
    current = await invite(parts)
    await writeFileAtomic(file, `${current.text}\n`, { mode: PRIVATE_FILE })
    onChange(current)
    return current
  }
  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      await host.clock.sleep(LOOK_MS, signal).catch(() => undefined)
      if (signal.aborted || host.addresses().join(' ') === known) continue
      await renew().catch((error: unknown) => host.logger.error({ error }, 'the invitation could not be renewed'))
    }
  }
  current = await renew()
  return {
    get current() {
      return current
    },
    ended: follow(),
  }
}

async function invite({ config: { about, base: named }, key, base, host }: InvitationParts): Promise<RunInvitation> {
  const { addresses, reach } = addressesForOthers(host.addresses())
  const sealed = await sealInvitation(key, {
    addresses: addresses
      .slice(0, LIMITS.invitationAddresses.value)
      .map((address) => address.replace(`/p2p/${host.peerId}`, '')),
    base: {
      name: named.name,
      sha256: base.sha256,
      sizeBytes: base.sizeBytes,
      chunkListSha256: chunkListSha256(base),
      sources: named.sources,
    },
    ...about,
  })
  return { text: invitationText(sealed), sealed, reach }
}

/**
 * Reads the newest invitation of a data folder, whether its coordinator runs or not.
 * @throws NoInvitationError; InvitationError for a damaged file
 */
export async function readInvitation(dataDir: string): Promise<string> {
  const { invitation: file } = dataFolderOf(dataDir)
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause
    throw new NoInvitationError('no_invitation', `${file} does not exist: start the coordinator, which writes it`, {
      cause,
    })
  })
  await parseInvitation(text)
  return text.trim()
}
