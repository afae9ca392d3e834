import type { EpisodeLimits } from '../../rollout/episode/limits.js'
import type { SampledToken } from '../../rollout/verification/sampled-token.js'
import type { AuditedGroup } from '../../rollout/verification/sampled-turns.js'
import { TrainerError } from '../jobs/errors.js'

/** Groups per audit job: enough to share loading, few enough for prompt verdicts. */
export const JOB_GROUPS = 8
/** Groups per job of unproven nodes, because proven nodes may have to wait for a job in progress. */
const DOUBTFUL_JOB_GROUPS = 2

/** Properties that all groups of a job share. */
export interface JobSubject {
  readonly adapterSha256: string
  readonly limits: EpisodeLimits
}

/** Computes token scores of groups with one subject, see `auditGroups`. */
export type AuditJobRunner = (
  subject: JobSubject,
  groups: readonly AuditedGroup[],
  signal: AbortSignal,
) => Promise<SampledToken[][]>

/**
 * Collects groups into audit jobs: while one job is computed, the next fills up, so that a busy run has full jobs. Groups of proven
 * nodes precede all others, see `createTurns`.
 */
export interface AuditQueue {
  /** Number of groups that no job has taken yet. */
  readonly waiting: number
  /**
   * Audits a group.
   * @param reliable  whether its node is proven
   * @returns  the token scores of the group, or null when the audit process refused this very group
   * @throws TrainerError when there will be no token scores at all; the signal's reason
   */
  tokenScores(subject: JobSubject, group: AuditedGroup, reliable: boolean): Promise<SampledToken[] | null>
}

interface Waiting {
  readonly subject: JobSubject
  readonly group: AuditedGroup
  readonly done: PromiseWithResolvers<SampledToken[] | null>
}

const nameOf = ({ subject: { adapterSha256, limits } }: Waiting): string => JSON.stringify([adapterSha256, limits])

export function createAuditQueue(run: AuditJobRunner, signal: AbortSignal): AuditQueue {
  const queues = { reliable: [] as Waiting[], other: [] as Waiting[] }
  let busy = false

  const answer = async (job: readonly Waiting[]): Promise<void> => {
    const { subject } = job[0]!
    try {
      const tokenScores = await run(
        subject,
        job.map(({ group }) => group),
        signal,
      )
      for (const [i, { done }] of job.entries()) done.resolve(tokenScores[i]!)
    } catch (error) {
      if (!(error instanceof TrainerError && error.code === 'audit_refused')) {
        for (const { done } of job) done.reject(error)
      } else if (job.length === 1) {
        job[0]!.done.resolve(null)
      } else {
        // One of them cannot be computed, so each is computed alone.
        for (const one of job) await answer([one])
      }
    }
  }

  const work = async (): Promise<void> => {
    if (busy) return
    busy = true
    for (;;) {
      const [waiting, most] =
        queues.reliable.length > 0 ? [queues.reliable, JOB_GROUPS] : [queues.other, DOUBTFUL_JOB_GROUPS]
      if (waiting.length === 0) break
      const name = nameOf(waiting[0]!)
      const job = waiting.filter((one) => nameOf(one) === name).slice(0, most)
      for (const one of job) waiting.splice(waiting.indexOf(one), 1)
      await answer(job)
    }
    busy = false
  }

  return {
    get waiting() {
      return queues.reliable.length + queues.other.length
    },
    tokenScores(subject, group, reliable) {
      const done = Promise.withResolvers<SampledToken[] | null>()
      queues[reliable ? 'reliable' : 'other'].push({ subject, group, done })
      void work()
      return done.promise
    },
  }
}
