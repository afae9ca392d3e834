import { join } from 'node:path'
import { type BlobDescription, EVIDENCE_ROLES, PUBLISHED_FILES, type SealedManifest } from '../../proto/index.js'
import { hashFile } from '../../rollout/engine/hash-file.js'
import {
  type BlobStore,
  type Clock,
  type SnapshotExchange,
  type SwarmLogger,
  TransportError,
} from '../../swarm/index.js'
import { unlessMissing } from '../jobs/job-directory.js'
import { stepFolder } from '../jobs/layout.js'
import type { DiskLosses } from '../ledger/disk-losses.js'
import type { RunState } from '../ledger/run-state.js'

/** Pause between two rounds of asking peers, number of rounds, and time limit for one file: adapters are large. */
const PAUSE_MS = 30_000
const ROUNDS = 20
const FETCH_MS = 300_000

export interface PublishedFilesParts {
  readonly blobs: BlobStore
  readonly snapshots: Pick<SnapshotExchange, 'fetchBlob'>
  /** Returns peers that may have published files. */
  readonly peers: () => readonly string[]
  readonly state: Pick<RunState, 'publications'>
  readonly jobs: string
  /** Whether old versions keep their evidence. Otherwise it is missing on purpose. */
  readonly keepsEvidence: boolean
  readonly clock: Pick<Clock, 'sleep' | 'timeout'>
  readonly losses: DiskLosses
  readonly logger: Pick<SwarmLogger, 'error'>
  readonly signal: AbortSignal
}

/** Files of the manifests in service. Lost files are restored from the trainer's steps, or fetched from nodes. */
export interface PublishedFiles {
  /**
   * Checks all files of a manifest and restores those that the job directory still has.
   * @returns  missing files, which are fetched from peers in the background, for about ten minutes
   */
  check(sealed: SealedManifest): Promise<readonly BlobDescription[]>
  /** Notes that a requested file is missing or damaged. */
  lose(blob: BlobDescription): void
  /** Resolves when the search for lost files is over, after the signal. */
  idle(): Promise<void>
}

export function createPublishedFiles(parts: PublishedFilesParts): PublishedFiles {
  const { blobs, snapshots, peers, state, jobs, keepsEvidence, clock, losses, logger, signal } = parts
  /** Nodes fetch the whole adapter when a difference is missing. */
  const mayBeMissing = ({ role }: BlobDescription): boolean =>
    role === 'adapter-difference' || (!keepsEvidence && EVIDENCE_ROLES.has(role))
  /** Files that are searched for, and the number of rounds so far. */
  const lost = new Map<string, { readonly blob: BlobDescription; rounds: number }>()
  let search: Promise<void> | null = null

  /** Restores a file from a published step. @returns  whether a step still has it */
  const restoreFromJobs = async ({ role, sha256 }: BlobDescription): Promise<boolean> => {
    const inStep = PUBLISHED_FILES.find((file) => file.role === role)?.inStep
    if (!inStep) return false
    for (const { step } of state.publications.toReversed()) {
      const file = join(stepFolder(jobs, step), inStep)
      if ((await unlessMissing(hashFile(file, signal))) !== sha256) continue
      await blobs.putFile(file)
      losses.note('published file', sha256, 'recovered', `the ${role}, from the trainer's step ${step}`)
      return true
    }
    return false
  }

  /** Fetches a file from peers. @throws the error of the file system */
  const askPeers = async ({ role, sha256, ...rest }: BlobDescription): Promise<boolean> => {
    const ending = AbortSignal.any([signal, clock.timeout(FETCH_MS)])
    try {
      await snapshots.fetchBlob({ role, sha256, ...rest }, peers(), { signal: ending })
      losses.note('published file', sha256, 'recovered', `the ${role}, from peers`)
      return true
    } catch (why) {
      if (!(why instanceof TransportError) && !ending.aborted) throw why
      return false
    }
  }

  /** Searches one file after the other, because lost files are not urgent. */
  const searchAll = async (): Promise<void> => {
    while (lost.size > 0 && !signal.aborted) {
      for (const [sha256, one] of lost) {
        if (signal.aborted) return
        const isRestored = (await restore(one.blob)) || (await askPeers(one.blob))
        one.rounds += 1
        if (isRestored || one.rounds === ROUNDS) lost.delete(sha256)
        if (!isRestored && one.rounds === ROUNDS)
          losses.note('published file', sha256, 'lost', `the ${one.blob.role}: no peer has it`)
      }
      if (lost.size > 0) await clock.sleep(PAUSE_MS, signal).catch(() => undefined)
    }
  }

  /** Restores a file. @returns  whether it is complete now */
  const restore = async (blob: BlobDescription): Promise<boolean> => {
    if (await blobs.isWhole(blob.sha256, signal)) return true
    if (await restoreFromJobs(blob)) return true
    // A damaged file would count as fetched.
    await blobs.remove(blob.sha256)
    return false
  }

  const searchFor = (blob: BlobDescription): void => {
    if (lost.has(blob.sha256) || mayBeMissing(blob) || signal.aborted) return
    lost.set(blob.sha256, { blob, rounds: 0 })
    search ??= searchAll()
      .catch((error: unknown) => {
        if (!signal.aborted) logger.error({ error }, 'the search for lost files has ended')
        lost.clear()
      })
      .finally(() => {
        search = null
      })
  }

  return {
    async check({ manifest }) {
      const missing: BlobDescription[] = []
      for (const blob of manifest.blobs) if (!mayBeMissing(blob) && !(await restore(blob))) missing.push(blob)
      for (const blob of missing) searchFor(blob)
      return missing
    },
    lose: searchFor,
    idle: async () => void (await search),
  }
}
