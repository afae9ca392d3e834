import { readFile } from 'node:fs/promises'
import { openManifest, type SealedManifest, SwarmRefusal, signerOf } from '../../proto/index.js'
import { unlessMissing } from '../jobs/job-directory.js'
import { DataFolderError } from '../ledger/disk-losses.js'

/**
 * Reads the manifest of a round that this run's key has signed.
 * @param manifestId  id that the log names
 * @returns  the manifest, or why it cannot be used
 * @throws DataFolderError `wrong_key`
 */
export async function readKeptManifest(
  file: string,
  manifestId: string,
  runId: string,
): Promise<SealedManifest | string> {
  const bytes = await unlessMissing(readFile(file))
  if (!bytes) return 'the manifest is missing'
  try {
    const sealed = await openManifest(bytes, runId)
    return sealed.manifestId === manifestId ? sealed : 'the manifest is not the one that the log names'
  } catch (why) {
    if (!(why instanceof SwarmRefusal)) throw why
    const signer = await signerOf(bytes, 'manifestBytes', 'policy-manifest')
    if (signer === null || signer === runId) return why.message
    throw new DataFolderError('wrong_key', `${file} is signed by ${signer}, but the key of this folder is ${runId}`)
  }
}
