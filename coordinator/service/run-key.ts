import { type Identity, openIdentity, readKey } from '../../swarm/index.js'
import { DataFolderError } from '../ledger/disk-losses.js'
import type { LogHead } from '../ledger/log-chain.js'

/**
 * Opens the key of a run. Makes it only for a new run, because another key would be another run, unknown to all volunteers.
 * @throws DataFolderError `key_missing`; IdentityError `key_unreadable`
 */
export async function openRunKey(dataDir: string, log: LogHead): Promise<Identity> {
  if (log.count === 0) return openIdentity(dataDir)
  const identity = await readKey(dataDir)
  if (identity) return identity
  throw new DataFolderError('key_missing', `${dataDir} contains a log of ${log.count} events but no identity.key`)
}
