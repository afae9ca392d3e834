import { readFile } from 'node:fs/promises'
import { openManifest, type SealedManifest, SwarmRefusal, signerOf } from '../../proto/index.js'
import { unlessMissing } from '../jobs/job-directory.js'
import { DataFolderError } from '../ledger/disk-losses.js'

/**
 * Reads the manifest of a round that this run's key sealed.
 * @param manifestId  which the log names
 * @returns  the manifest, or why there is none
 * @throws DataFolderError `wrong_key`
 */
export async function readKeptManifest(
  file: string,
  manifestId: string,
  runId: string,
): Promise<SealedManifest | string> {
  const bytes = await unlessMissing(readFile(file))
  if (!bytes) return 'it is missing'
  try {
    const sealed = await openManifest(bytes, runId)
    return sealed.manifestId === manifestId ? sealed : 'it is another one than the log names'
  } catch (why) {
    if (!(why instanceof SwarmRefusal)) throw why
    const signer = await signerOf(bytes, 'manifestBytes', 'policy-manifest')
    if (signer === null || signer === runId) return why.message
    throw new DataFolderError('wrong_key', `${file} is signed by ${signer}, and the key here is ${runId}`)
  }
}
