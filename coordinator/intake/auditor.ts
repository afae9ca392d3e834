import { createHmac } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type AuditedGroup, type AuditVerdict, judgeStatistics, measureGroup } from '../../judging/index.js'
import type { BlobStore } from '../../swarm/index.js'
import { offerAdapter, pruneAdapters } from '../spool/audit-folder.js'
import { type AuditDesk, auditGroups } from './audit-groups.js'
import { createAuditQueue } from './audit-queue.js'
import type { Calibrations } from './calibrations.js'

/** A group to audit: what was replayed of it, and what its lease says of the engine it was made with. */
export interface AuditRequest extends AuditedGroup {
  readonly adapterSha256: string
  readonly backend: string
  readonly drawsReplay: boolean
}

/** Stages 5 to 7 of judging, for a run. */
export interface Auditor {
  isCalibrated(backend: string): boolean
  /**
   * @returns  the verdict, or null when the group cannot be computed at all
   * @throws TrainerError when the audit process is of no use any more; the signal's reason
   */
  audit(request: AuditRequest): Promise<AuditVerdict | null>
}

export interface AuditorParts {
  readonly desk: AuditDesk
  readonly calibrations: Calibrations
  /** Where the published adapters are. */
  readonly blobs: BlobStore
  /** Adapters that groups under audit may still be of. */
  readonly adaptersKept: number
  readonly signal: AbortSignal
}

export async function createAuditor(parts: AuditorParts): Promise<Auditor> {
  const { desk, calibrations, blobs, adaptersKept, signal } = parts
  // Groups without a verdict are offered again; answers that nobody asks for any more would only pile up.
  for (const name of ['audits', 'evidence']) await rm(join(desk.spool, name), { recursive: true, force: true })
  let offered: readonly string[] = []
  const queue = createAuditQueue(async (adapterSha256, groups, ending) => {
    if (!offered.includes(adapterSha256)) {
      await offerAdapter(desk.spool, await readFile(blobs.path(adapterSha256)))
      offered = [adapterSha256, ...offered].slice(0, adaptersKept)
      await pruneAdapters(desk.spool, offered)
    }
    return auditGroups(desk, adapterSha256, groups, ending)
  }, signal)
  return {
    isCalibrated: (backend) => calibrations.has(backend),
    async audit({ adapterSha256, backend, drawsReplay, ...group }) {
      const evidence = await queue.evidence(adapterSha256, group)
      if (!evidence) return null
      const { thresholds } = calibrations.get(backend)!
      return judgeStatistics(measureGroup(evidence), thresholds, { replay: drawsReplay })
    },
  }
}

/** Decides what is looked at more closely. */
export interface AuditLottery {
  /** Whether a body is drawn. @param share  of all bodies that are, 0 to 1 */
  draws(bodySha256: string, share: number): boolean
}

/**
 * A draw depends on the body's hash, so it is made only when the body is fixed, and on a secret, so nobody can look for a
 * body that is not drawn. It comes out the same however often the group is offered.
 */
export function createAuditLottery(secret: Uint8Array): AuditLottery {
  return {
    draws(bodySha256, share) {
      const draw = createHmac('sha256', secret)
        .update(JSON.stringify(['prove/audit/1', bodySha256]))
        .digest()
        .readUInt32LE(0)
      return draw < share * 2 ** 32
    },
  }
}
