import type { EpisodeLimits } from '../../rollout/episode/limits.js'
import type { SampledToken } from '../../rollout/verification/sampled-token.js'
import type { AuditedGroup } from '../../rollout/verification/sampled-turns.js'
import { TrainerError } from '../jobs/errors.js'

/** Groups that one audit job takes: enough to share its loading, few enough to keep verdicts prompt. */
export const JOB_GROUPS = 8
/** The same of nodes that are not known to deliver: a job that has begun is what the others may have to wait for. */
const DOUBTFUL_JOB_GROUPS = 2

/** What the groups of one job have in common. */
export interface JobSubject {
  readonly adapterSha256: string
  readonly limits: EpisodeLimits
}

/** Recomputes groups of one subject, see `auditGroups`. */
export type AuditJobRunner = (
  subject: JobSubject,
  groups: readonly AuditedGroup[],
  signal: AbortSignal,
) => Promise<SampledToken[][]>

/**
 * Gathers groups into audit jobs: while one job is computed the next fills up, so that a busy run has full jobs. Groups of nodes
 * that are known to deliver go before all others, see `createTurns`.
 */
export interface AuditQueue {
  /** Groups that no job has taken yet. */
  readonly waiting: number
  /**
   * @param reliable  its node is known to deliver
   * @returns  the evidence on the group's sampled tokens, or null when the recomputation refused this very group
   * @throws TrainerError when there will be no evidence on anything; the signal's reason
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
  const lines = { reliable: [] as Waiting[], other: [] as Waiting[] }
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
        // One of them cannot be computed; the others must not suffer for it.
        for (const one of job) await answer([one])
      }
    }
  }

  const work = async (): Promise<void> => {
    if (busy) return
    busy = true
    for (;;) {
      const [waiting, most] =
        lines.reliable.length > 0 ? [lines.reliable, JOB_GROUPS] : [lines.other, DOUBTFUL_JOB_GROUPS]
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
      return lines.reliable.length + lines.other.length
    },
    tokenScores(subject, group, reliable) {
      const done = Promise.withResolvers<SampledToken[] | null>()
      lines[reliable ? 'reliable' : 'other'].push({ subject, group, done })
      void work()
      return done.promise
    },
  }
}
