import { join } from 'node:path'
import { type BlobDescription, PUBLISHED_FILES, type SealedManifest } from '../../proto/index.js'
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

/** Between two rounds of asking peers, how many there are, and the longest that one file takes: adapters are large. */
const PAUSE_MS = 30_000
const ROUNDS = 20
const FETCH_MS = 300_000

export interface PublishedFilesParts {
  readonly blobs: BlobStore
  readonly snapshots: Pick<SnapshotExchange, 'fetchBlob'>
  /** Who may have what was published. */
  readonly peers: () => readonly string[]
  readonly state: Pick<RunState, 'publications'>
  readonly jobs: string
  readonly clock: Pick<Clock, 'sleep' | 'timeout'>
  readonly losses: DiskLosses
  readonly logger: Pick<SwarmLogger, 'error'>
  readonly signal: AbortSignal
}

/** What manifests in service promise to give: lost files come back from the trainer's steps, or from the nodes that have them. */
export interface PublishedFiles {
  /**
   * Looks at all files of a manifest and puts back what the spool still has.
   * @returns  what is missing now; peers are asked for it in the background, for some ten minutes
   */
  check(sealed: SealedManifest): Promise<readonly BlobDescription[]>
  /** Notes that a file was asked for and is not there as it was. */
  lose(blob: BlobDescription): void
  /** Resolves when nothing is looked for any more; after the signal. */
  idle(): Promise<void>
}

export function createPublishedFiles(parts: PublishedFilesParts): PublishedFiles {
  const { blobs, snapshots, peers, state, jobs, clock, losses, logger, signal } = parts
  /** What is looked for, and how often peers were asked for it in vain. */
  const lost = new Map<string, { readonly blob: BlobDescription; rounds: number }>()
  let search: Promise<void> | null = null

  /** Whether a step that was published still has the file. */
  const putBackFromJobs = async ({ role, sha256 }: BlobDescription): Promise<boolean> => {
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

  /** @throws what the disk says */
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

  /** One after the other: what is lost is in no hurry that the next round's uploads are not. */
  const searchAll = async (): Promise<void> => {
    while (lost.size > 0 && !signal.aborted) {
      for (const [sha256, one] of lost) {
        if (signal.aborted) return
        const isThere = (await restore(one.blob)) || (await askPeers(one.blob))
        one.rounds += 1
        if (isThere || one.rounds === ROUNDS) lost.delete(sha256)
        if (!isThere && one.rounds === ROUNDS)
          losses.note('published file', sha256, 'lost', `the ${one.blob.role}: no peer has it`)
      }
      if (lost.size > 0) await clock.sleep(PAUSE_MS, signal).catch(() => undefined)
    }
  }

  /** @returns  whether it is there, whole */
  const restore = async (blob: BlobDescription): Promise<boolean> => {
    if (await blobs.isWhole(blob.sha256, signal)) return true
    if (await putBackFromJobs(blob)) return true
    // Left there, it would count as fetched.
    await blobs.remove(blob.sha256)
    return false
  }

  const lookFor = (blob: BlobDescription): void => {
    if (lost.has(blob.sha256) || signal.aborted) return
    lost.set(blob.sha256, { blob, rounds: 0 })
    search ??= searchAll()
      .catch((error: unknown) => {
        if (!signal.aborted) logger.error({ error }, 'lost files are not looked for any more')
        lost.clear()
      })
      .finally(() => {
        search = null
      })
  }

  return {
    async check({ manifest }) {
      const missing: BlobDescription[] = []
      for (const blob of manifest.blobs) if (!(await restore(blob))) missing.push(blob)
      for (const blob of missing) lookFor(blob)
      return missing
    },
    lose: lookFor,
    idle: async () => void (await search),
  }
}
