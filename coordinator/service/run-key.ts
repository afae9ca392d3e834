import { type Identity, openIdentity, readKey } from '../../swarm/index.js'
import { DataFolderError } from '../ledger/disk-losses.js'
import type { LogHead } from '../ledger/log-chain.js'

/**
 * The key of a run: made for a new one, and never again. Another key would be another run, which no volunteer of this one knows.
 * @throws DataFolderError `key_missing`; IdentityError `key_unreadable`
 */
export async function openRunKey(dataDir: string, log: LogHead): Promise<Identity> {
  if (log.count === 0) return openIdentity(dataDir)
  const identity = await readKey(dataDir)
  if (identity) return identity
  throw new DataFolderError('key_missing', `${dataDir} holds a log of ${log.count} events, and no identity.key`)
}
