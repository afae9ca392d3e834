import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Identity, openIdentity, readKey } from '../../swarm/index.js'
import { NodeError } from '../report/errors.js'

/** Folder of a node's records in its data directory. */
export const recordsFolder = (dataDir: string): string => join(dataDir, 'store')

/**
 * Opens the key of a node. Makes it only in a data directory without records: with another key, the owner would lose the credit and the
 * groups without a verdict of the earlier one.
 * @param hasRecords  default: whether the folder of records exists
 * @throws NodeError `key_missing`; IdentityError `key_unreadable`
 */
export async function openOwnKey(
  dataDir: string,
  hasRecords = async (): Promise<boolean> => existsSync(recordsFolder(dataDir)),
): Promise<Identity> {
  const identity = await readKey(dataDir)
  if (identity) return identity
  if (!(await hasRecords())) return openIdentity(dataDir)
  throw new NodeError(
    'key_missing',
    `${dataDir} contains the records of a node but no identity.key, and a new key would lose their credit. Restore the file, or import the exported key: prove-node identity import KEY --data-dir ${dataDir}. For a new key, name another folder with --data-dir`,
  )
}
