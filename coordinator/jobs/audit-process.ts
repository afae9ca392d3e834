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
  /** `trainer.json`; only base, device, precision, threads and packing matter here. */
  readonly config: string
  /** torchrun ranks. Default 1. */
  readonly processes?: number
  /** Ends in a row without an answer after which the process is given up. */
  readonly maxFailures: number
  /** For one answer, starts of the process included. */
  readonly timeoutMs: number
}

/** What became of an audit. */
export type AuditOutcome = { readonly kind: 'audited' } | ({ readonly kind: 'refused' } & Refusal)

/** The process that answers audits, or the ranks of it: `prove_trainer --audits`, started when needed and again when it dies. */
export interface AuditProcess {
  /**
   * What becomes of an audit that lies in the spool. Idempotent.
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
  /** Ends since the last answer that somebody waited for. */
  let failures = 0
  /** What the process last said is wrong; its stderr only where it said nothing. */
  let told: string | null = null

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
      told = null
    },
    onLine(value, line) {
      log.debug({ line }, 'audit process')
      const error = errorEvent.safeParse(value)
      if (error.success) told = `${error.data.code}: ${error.data.message}`
    },
    onEnd({ lastWords }) {
      failures++
      const reason = told ?? lastWords
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
        // The folder is the answer: it also holds when the process, or we, were started anew in between.
        await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
      }
    },
    async close() {
      stopping.abort()
      await child.close()
    },
  }
}
