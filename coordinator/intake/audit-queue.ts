import type { EpisodeLimits } from '../../episode/limits.js'
import type { SampledToken } from '../../judging/evidence.js'
import type { AuditedGroup } from '../../judging/sampled-turns.js'
import { TrainerError } from '../spool/errors.js'

/** Groups that one audit job takes: enough to share its loading, few enough to keep verdicts prompt. */
const JOB_GROUPS = 8

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

/** Gathers groups into audit jobs: while one job is computed the next fills up, so that a busy run has full jobs. */
export interface AuditQueue {
  /**
   * @returns  the evidence on the group's sampled tokens, or null when the recomputation refused this very group
   * @throws TrainerError when there will be no evidence on anything; the signal's reason
   */
  evidence(subject: JobSubject, group: AuditedGroup): Promise<SampledToken[] | null>
}

interface Waiting {
  readonly subject: JobSubject
  readonly group: AuditedGroup
  readonly done: PromiseWithResolvers<SampledToken[] | null>
}

const nameOf = ({ subject: { adapterSha256, limits } }: Waiting): string => JSON.stringify([adapterSha256, limits])

export function createAuditQueue(run: AuditJobRunner, signal: AbortSignal): AuditQueue {
  const waiting: Waiting[] = []
  let busy = false

  const answer = async (job: readonly Waiting[]): Promise<void> => {
    const { subject } = job[0]!
    try {
      const evidence = await run(
        subject,
        job.map(({ group }) => group),
        signal,
      )
      for (const [i, { done }] of job.entries()) done.resolve(evidence[i]!)
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
    while (waiting.length > 0) {
      const name = nameOf(waiting[0]!)
      const job = waiting.filter((one) => nameOf(one) === name).slice(0, JOB_GROUPS)
      for (const one of job) waiting.splice(waiting.indexOf(one), 1)
      await answer(job)
    }
    busy = false
  }

  return {
    evidence(subject, group) {
      const done = Promise.withResolvers<SampledToken[] | null>()
      waiting.push({ subject, group, done })
      void work()
      return done.promise
    },
  }
}
