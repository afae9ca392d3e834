import { stat } from 'node:fs/promises'
import type { BlobDescription, InvitedBase, Sha256 } from '../../proto/index.js'
import { BlobError, describeFile } from '../../swarm/index.js'
import { NodeError } from '../report/errors.js'
import type { ModelCache } from './model-cache.js'

/** A base model on this machine, with its description for other nodes. */
export interface BaseModel {
  readonly path: string
  readonly blob: BlobDescription
}

/** Reads and hashes a model file. @throws NodeError `wrong_base` if the file cannot be read */
export async function readBaseModel(path: string, signal: AbortSignal): Promise<BaseModel> {
  try {
    return { path, blob: await describeFile(path, 'base', signal) }
  } catch (cause) {
    signal.throwIfAborted()
    const why = cause instanceof BlobError ? `${path} does not exist` : (cause as Error).message
    throw new NodeError('wrong_base', `the base model cannot be read: ${why}`, { cause })
  }
}

/** Checks that a model is the run's. @throws NodeError `wrong_base` */
export function checkGivenModel({ path, blob }: BaseModel, base: InvitedBase): void {
  if (blob.sha256 === base.sha256) return
  throw new NodeError(
    'wrong_base',
    `the run uses ${base.name} with SHA-256 ${base.sha256}, but ${path} has ${blob.sha256}. Start without --model to fetch it`,
  )
}

/**
 * Finds the base model with this hash in the cache or in this package. A damaged file in the cache is removed.
 * @param packaged  path of the model in this package
 * @throws the signal's reason
 */
export async function findBaseModel(
  sha256: Sha256,
  { packaged, cache }: { readonly packaged: string; readonly cache: ModelCache },
  signal: AbortSignal,
): Promise<(BaseModel & { readonly from: 'package' | 'cache' }) | null> {
  const cached = cache.store.path(sha256)
  if (await isThere(cached)) {
    const blob = await describeFile(cached, 'base', signal)
    if (blob.sha256 === sha256) return { path: cached, blob, from: 'cache' }
    await cache.remove(sha256)
  }
  if (!(await isThere(packaged))) return null
  const blob = await describeFile(packaged, 'base', signal)
  return blob.sha256 === sha256 ? { path: packaged, blob, from: 'package' } : null
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
