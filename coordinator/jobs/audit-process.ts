import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { z } from 'zod'
import { TrainerError } from './errors.js'
import { exists } from './job-directory.js'
import { auditFolder, tokenScoreFolder } from './layout.js'
import { createPythonProcess } from './python-process.js'
import { type Refusal, readRefusal } from './refusal-file.js'
import { torchrun } from './torchrun.js'

export interface AuditProcessOptions {
  readonly python: string
  /** Folder of the `prove_trainer` package. */
  readonly packageFolder: string
  readonly jobs: string
  readonly base: string
  /** `trainer.json`; audits use only base, device, precision, threads and packing. */
  readonly config: string
  /** torchrun ranks. Default 1. */
  readonly processes?: number
  /** Consecutive ends without an answer after which the process is given up. */
  readonly maxFailures: number
  /** Time limit for one answer, including starts of the process. */
  readonly timeoutMs: number
}

/** Outcome of an audit. */
export type AuditOutcome = { readonly kind: 'audited' } | ({ readonly kind: 'refused' } & Refusal)

/** The process that answers audits, or its ranks: `prove_trainer --audits`, started when needed and restarted when it dies. */
export interface AuditProcess {
  /** Starts the process before its first audit, because a start takes longer than an audit. The settings file must exist. */
  start(): void
  /**
   * Waits for the outcome of an audit in the job directory. Idempotent.
   * @throws TrainerError when there will be no answer; the signal's reason
   */
  outcome(auditId: string, signal: AbortSignal): Promise<AuditOutcome>
  close(): Promise<void>
}

const POLL_MS = 50
const RESTART_PAUSE_MS = 500
const CLOSE_TIMEOUT_MS = 10_000

const errorEvent = z.looseObject({ event: z.literal('error'), code: z.string(), message: z.string() })

export function createAuditProcess(options: AuditProcessOptions, log: Logger): AuditProcess {
  const { python, packageFolder, jobs, base, config, processes = 1, maxFailures, timeoutMs } = options
  const stopping = new AbortController()
  /** Ends since the last answer. */
  let failures = 0
  /** The last error that the process reported; null: none, so its stderr is used. */
  let reported: string | null = null

  const child = createPythonProcess({
    python,
    packageFolder,
    args: [
      ...torchrun(processes),
      '-m',
      'prove_trainer',
      '--audits',
      '--jobs',
      jobs,
      '--base',
      base,
      '--config',
      config,
    ],
    env: { TORCH_CPP_LOG_LEVEL: 'ERROR' },
    restartPauseMs: RESTART_PAUSE_MS,
    closeTimeoutMs: CLOSE_TIMEOUT_MS,
    onStart() {
      reported = null
    },
    onLine(value, line) {
      log.debug({ line }, 'audit process')
      const error = errorEvent.safeParse(value)
      if (error.success) reported = `${error.data.code}: ${error.data.message}`
    },
    onEnd({ lastWords }) {
      failures++
      const reason = reported ?? lastWords
      log.warn({ failures, reason }, 'the audit process ended')
      if (failures >= maxFailures) throw new TrainerError('trainer_failed', `audits: ${reason}`)
    },
  })

  const answered = async (auditId: string): Promise<AuditOutcome | null> => {
    if (await exists(tokenScoreFolder(jobs, auditId))) return { kind: 'audited' }
    const refusal = await readRefusal(auditFolder(jobs, auditId))
    return refusal && { kind: 'refused', ...refusal }
  }

  return {
    start: () => child.start(),
    async outcome(auditId, caller) {
      const signal = AbortSignal.any([caller, stopping.signal])
      const deadline = performance.now() + timeoutMs
      for (;;) {
        const outcome = await answered(auditId)
        if (outcome) {
          failures = 0
          return outcome
        }
        caller.throwIfAborted()
        if (stopping.signal.aborted) throw new TrainerError('closed', 'the audit process was closed')
        if (child.failure) throw child.failure
        if (performance.now() > deadline)
          throw new TrainerError('trainer_failed', `no answer to ${auditId} within ${timeoutMs} ms`)
        child.start()
        // The folder is the answer, so it remains valid across restarts of both processes.
        await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
      }
    },
    async close() {
      stopping.abort()
      await child.close()
    },
  }
}
