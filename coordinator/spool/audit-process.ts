import { type ChildProcess, spawn } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { z } from 'zod'
import { TrainerError } from './errors.js'

export interface AuditProcessOptions {
  readonly python: string
  /** Folder of the `prove_trainer` package. */
  readonly packageFolder: string
  readonly spool: string
  readonly base: string
  /** `trainer.json`; only base, device, precision, threads and packing matter here. */
  readonly config: string
  /** Ends in a row without an answer after which the process is given up. */
  readonly maxFailures: number
  /** For one answer, starts of the process included. */
  readonly timeoutMs: number
}

/** What became of an audit. */
export type AuditOutcome =
  | { readonly kind: 'audited' }
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string }

/** The process that answers audits: `prove_trainer --audits`, started when needed and again when it dies. */
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
const STDERR_TAIL_CHARS = 2000

const refusalFile = z.looseObject({ code: z.string(), message: z.string() })
const errorEvent = z.looseObject({ event: z.literal('error'), code: z.string(), message: z.string() })

export function createAuditProcess(options: AuditProcessOptions, log: Logger): AuditProcess {
  const { spool, maxFailures } = options
  const stopping = new AbortController()
  let child: ChildProcess | null = null
  let running: Promise<void> | null = null
  let failure: TrainerError | null = null
  /** Ends since the last answer that somebody waited for. */
  let failures = 0
  /** What the process last said is wrong; its stderr only where it said nothing. */
  let why: { told?: string; stderr: string } = { stderr: '' }

  const runOnce = async (): Promise<void> => {
    const files = ['--spool', spool, '--base', options.base, '--config', options.config]
    const args = ['-m', 'prove_trainer', '--audits', ...files, '--parent-pid', String(process.pid)]
    const env = { ...process.env, PYTHONPATH: options.packageFolder, OMP_NUM_THREADS: '1' }
    const spawned = spawn(options.python, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    child = spawned
    const said: typeof why = { stderr: '' }
    why = said
    spawned.stderr.setEncoding('utf8').on('data', (text: string) => {
      said.stderr = (said.stderr + text).slice(-STDERR_TAIL_CHARS)
    })
    createInterface({ input: spawned.stdout }).on('line', (line) => {
      log.debug({ line }, 'audit process')
      const error = errorEvent.safeParse(parseJson(line))
      if (error.success) said.told = `${error.data.code}: ${error.data.message}`
    })
    try {
      await new Promise<void>((resolve, reject) => {
        spawned.once('error', (cause) =>
          reject(new TrainerError('trainer_unusable', `${options.python}: ${cause.message}`, { cause })),
        )
        spawned.once('close', () => resolve())
      })
    } finally {
      child = null
    }
  }

  const supervise = async (): Promise<void> => {
    try {
      while (!stopping.signal.aborted) {
        await runOnce()
        if (stopping.signal.aborted) return
        failures++
        const reason = why.told ?? why.stderr.trim().split('\n').at(-1) ?? ''
        log.warn({ failures, reason }, 'the audit process ended')
        if (failures >= maxFailures) throw new TrainerError('trainer_failed', `audits: ${reason}`)
        await sleep(RESTART_PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
      }
    } catch (cause) {
      failure =
        cause instanceof TrainerError ? cause : new TrainerError('trainer_failed', (cause as Error).message, { cause })
    }
  }

  const answered = async (auditId: string): Promise<AuditOutcome | null> => {
    const done = await stat(join(spool, 'evidence', auditId)).catch(() => null)
    if (done) return { kind: 'audited' }
    const text = await readFile(join(spool, 'audits', auditId, 'refused.json'), 'utf8').catch(() => null)
    const refused = refusalFile.safeParse(text === null ? null : parseJson(text))
    return refused.success ? { kind: 'refused', code: refused.data.code, detail: refused.data.message } : null
  }

  return {
    async outcome(auditId, caller) {
      const signal = AbortSignal.any([caller, stopping.signal])
      const deadline = performance.now() + options.timeoutMs
      for (;;) {
        const outcome = await answered(auditId)
        if (outcome) {
          failures = 0
          return outcome
        }
        caller.throwIfAborted()
        if (stopping.signal.aborted) throw new TrainerError('closed', 'the audit process was closed')
        if (failure) throw failure
        if (performance.now() > deadline)
          throw new TrainerError('trainer_failed', `no answer to ${auditId} within ${options.timeoutMs} ms`)
        running ??= supervise()
        // The folder is the answer: it also holds when the process, or we, were started anew in between.
        await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
      }
    },
    async close() {
      stopping.abort()
      const ending = child
      const timer = setTimeout(() => ending?.kill('SIGKILL'), CLOSE_TIMEOUT_MS)
      ending?.kill('SIGTERM')
      await running
      clearTimeout(timer)
    },
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
