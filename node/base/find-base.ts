import { stat } from 'node:fs/promises'
import type { BlobDescription, InvitedBase, Sha256 } from '../../proto/index.js'
import { BlobError, describeFile } from '../../swarm/index.js'
import { NodeError } from '../report/errors.js'
import type { ModelCache } from './model-cache.js'

/** A base model on this machine, and what others can be given of it. */
export interface BaseModel {
  readonly path: string
  readonly blob: BlobDescription
}

/** Reads and hashes the model that the user names. @throws NodeError `wrong_base` when it cannot be read */
export async function readBaseModel(path: string, signal: AbortSignal): Promise<BaseModel> {
  try {
    return { path, blob: await describeFile(path, 'base', signal) }
  } catch (cause) {
    signal.throwIfAborted()
    const why = cause instanceof BlobError ? `${path} is not there` : (cause as Error).message
    throw new NodeError('wrong_base', `the base model cannot be read: ${why}`, { cause })
  }
}

/** @throws NodeError `wrong_base` when the model that the user names is not the run's */
export function checkGivenModel({ path, blob }: BaseModel, base: InvitedBase): void {
  if (blob.sha256 === base.sha256) return
  throw new NodeError(
    'wrong_base',
    `the run uses ${base.name} with SHA-256 ${base.sha256}; ${path} has ${blob.sha256}. Without --model the right one is fetched`,
  )
}

/**
 * The base model of this hash, if it came with this program or was fetched before.
 * @param packaged  path of the model that comes with this program
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
    // The disk has changed it: left there, it would count as fetched.
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
