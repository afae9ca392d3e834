import { stat } from 'node:fs/promises'
import { serveStatic } from '@hono/node-server/serve-static'
import type { Context } from 'hono'
import { LRUCache } from 'lru-cache'
import { PUBLISHED_FILES, type SealedManifest, type Sha256 } from '../../proto/index.js'
import type { BlobStore } from '../../swarm/index.js'
import { DASHBOARD_LIMITS } from './limits.js'

/** Dependencies of the downloads of a version's files: those that its manifest names, and the manifest itself. */
export interface DownloadParts {
  readonly blobs: Pick<BlobStore, 'path' | 'isWhole'>
  /** Returns the manifests in service, the newest round first. */
  readonly manifests: () => readonly SealedManifest[]
  /** Returns the hash of a version's adapter, also of a version whose manifest is no longer in service. */
  readonly adapterOf: (version: number) => Sha256 | undefined
}

export const SEALED_MANIFEST = 'manifest.sealed'

/** Returns the manifests in service, the newest version first: one per version, of its newest round. */
export function versionsInService(manifests: readonly SealedManifest[]): SealedManifest[] {
  const found = new Map<number, SealedManifest>()
  for (const sealed of manifests) if (!found.has(sealed.manifest.version)) found.set(sealed.manifest.version, sealed)
  return [...found.values()].sort((a, b) => b.manifest.version - a.manifest.version)
}

/** Returns the files of a version under the names that PEFT expects. */
export const filesOf = ({ manifest }: SealedManifest): { name: string; sizeBytes: number; sha256: Sha256 }[] =>
  PUBLISHED_FILES.flatMap(({ role, name }) => {
    const blob = manifest.blobs.find((one) => one.role === role)
    return blob ? [{ name, sizeBytes: blob.sizeBytes, sha256: blob.sha256 }] : []
  })

/** Returns the list of versions and files for programs, as `/versions.json`. */
export const listing = (manifests: readonly SealedManifest[]): object => ({
  versions: versionsInService(manifests).map((sealed) => ({
    version: sealed.manifest.version,
    manifestId: sealed.manifestId,
    publishedAt: new Date(sealed.manifest.createdAtMs).toISOString(),
    files: filesOf(sealed),
  })),
})

export interface Downloads {
  /** Answers a request for a file of a version, or a range of it (RFC 9110, section 14). The hash is the entity tag. */
  give(context: Context, version: number, name: string): Promise<Response>
}

export function createDownloads({ blobs, manifests, adapterOf }: DownloadParts): Downloads {
  /** Modification times of files whose hash was verified. A client that resumes asks many times. */
  const checked = new LRUCache<Sha256, number>({ max: DASHBOARD_LIMITS.checkedFiles })

  const isWhole = async (sha256: Sha256, signal: AbortSignal): Promise<boolean> => {
    const found = await stat(blobs.path(sha256)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (found === null) return false
    if (checked.get(sha256) === found.mtimeMs) return true
    if (!(await blobs.isWhole(sha256, signal))) return false
    checked.set(sha256, found.mtimeMs)
    return true
  }

  return {
    async give(context, version, name) {
      const sealed = manifests().find(({ manifest }) => manifest.version === version)
      if (name === SEALED_MANIFEST && sealed) {
        offer(context, sealed.manifestId, `version-${version}.sealed`)
        return context.body(Buffer.from(sealed.envelope), 200, { 'Content-Type': 'application/octet-stream' })
      }
      const named = sealed && filesOf(sealed).find((file) => file.name === name)?.sha256
      const sha256 = named ?? (name === 'adapter.gguf' ? adapterOf(version) : undefined)
      if (sha256 === undefined || !(await isWhole(sha256, context.req.raw.signal))) return context.notFound()
      const tag = offer(context, sha256, `version-${version}${extension(name)}`)
      if (context.req.header('if-none-match')?.includes(tag)) return context.body(null, 304)
      context.header('Accept-Ranges', 'bytes')
      // A client that has a part of another file gets this file from its beginning.
      if ((context.req.header('if-range') ?? tag) !== tag) context.req.raw.headers.delete('range')
      const answer = await serveStatic({ path: blobs.path(sha256) })(context, async () => undefined)
      return answer ?? context.notFound()
    },
  }
}

/** Sets the headers of a download. @returns  the entity tag */
function offer(context: Context, hash: string, filename: string): string {
  const tag = `"${hash}"`
  context.header('ETag', tag)
  context.header('Cache-Control', 'no-cache')
  context.header('Content-Disposition', `attachment; filename="${filename}"`)
  return tag
}

/** Returns the end of a download's file name. */
const extension = (name: string): string => (name === 'adapter.gguf' ? '.gguf' : `-${name.replaceAll('/', '-')}`)
