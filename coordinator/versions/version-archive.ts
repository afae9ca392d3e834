import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { EVIDENCE_ROLES, openManifest, type SealedManifest, SwarmRefusal } from '../../proto/index.js'
import type { BlobStore, SwarmLogger } from '../../swarm/index.js'
import { unlessMissing } from '../jobs/job-directory.js'
import { versionFile, versionIn } from '../settings/data-folder.js'

/** The first manifest of every version, so that each step can be made again as long as the operator wishes. */
export interface VersionArchive {
  /** Stores the manifest of a new version, and removes the evidence of versions that are too old. */
  keep(sealed: SealedManifest): Promise<void>
  /** Returns the first manifest of a version; null: it is not here. */
  read(version: number): Promise<SealedManifest | null>
}

export interface VersionArchiveParts {
  readonly folder: string
  readonly runId: string
  readonly blobs: Pick<BlobStore, 'remove'>
  /** Number of versions whose evidence is kept; undefined: all. */
  readonly versions: number | undefined
  readonly logger: Pick<SwarmLogger, 'error'>
}

export function createVersionArchive({ folder, runId, blobs, versions, logger }: VersionArchiveParts): VersionArchive {
  const fileOf = (version: number): string => versionFile(folder, version)

  const read = async (version: number): Promise<SealedManifest | null> => {
    const bytes = await unlessMissing(readFile(fileOf(version)))
    if (!bytes) return null
    try {
      return await openManifest(bytes, runId)
    } catch (error) {
      if (!(error instanceof SwarmRefusal)) throw error
      logger.error({ version, error }, 'an archived manifest is damaged')
      return null
    }
  }

  const prune = async (newest: SealedManifest): Promise<void> => {
    if (versions === undefined) return
    const oldest = newest.manifest.version - versions
    const inUse = new Set(newest.manifest.blobs.map(({ sha256 }) => sha256))
    for (const name of await readdir(folder)) {
      const version = versionIn(name) ?? Number.POSITIVE_INFINITY
      if (version > oldest) continue
      const sealed = await read(version)
      for (const { role, sha256 } of sealed?.manifest.blobs ?? [])
        if (EVIDENCE_ROLES.has(role) && !inUse.has(sha256)) await blobs.remove(sha256)
      await rm(join(folder, name), { force: true })
    }
  }

  return {
    read,
    async keep(sealed) {
      await mkdir(folder, { recursive: true })
      await writeFileAtomic(fileOf(sealed.manifest.version), Buffer.from(sealed.envelope))
      await prune(sealed)
    },
  }
}
