import { Tinypool } from 'tinypool'
import { SwarmRefusal } from '../../proto/index.js'
import { type CheckWatch, NondeterministicEnvironments } from '../../rollout/verification/index.js'
import type { SwarmLogger } from '../../swarm/index.js'
import type { ReplayAnswer, ReplayJob, ReplaySetup } from './replay-worker.js'
import type { Replays } from './replays.js'

export interface ReplayPoolParts {
  readonly workers: number
  readonly setup: ReplaySetup
  readonly watch: CheckWatch
  readonly logger: Pick<SwarmLogger, 'warn'>
}

export interface ReplayPool extends Replays {
  /** Ends the processes. */
  close(): Promise<void>
}

/** `replay-worker.js` when built, `replay-worker.ts` when run from the sources. */
const WORKER = new URL(`./replay-worker${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url)
/** Time limit for one group, which takes milliseconds; a process takes a second to start. It bounds environments that loop for ever. */
const PATIENCE_MS = 60_000
/** A group that ended two processes would end further ones too. */
const ATTEMPTS = 2

/**
 * Replays groups in separate processes, which are started when needed. A process that ends, or does not answer in time, does not affect
 * the coordinator: another one repeats the replay.
 */
export function createReplayPool(parts: ReplayPoolParts): ReplayPool {
  const { workers, setup, watch, logger } = parts
  // One pool per process: a task in a larger pool would wait for ever if its process ended at the start.
  const idle = new Set<Tinypool>()
  const all = new Set<Tinypool>()

  const open = (): Tinypool => {
    const pool = new Tinypool({
      filename: WORKER.href,
      runtime: 'child_process',
      minThreads: 1,
      // Needed for bodies, which are bytes.
      // Bodies are bytes.
      serialization: 'advanced',
      env: process.env as Record<string, string>,
    })
    all.add(pool)
    pool.on('error', (error: unknown) => {
      logger.warn({ error }, 'a process for replays ended while it was idle')
      discard(pool)
    })
    return pool
  }
  const discard = (pool: Tinypool): void => {
    idle.delete(pool)
    if (!all.delete(pool)) return
    pool.destroy().catch((error: unknown) => logger.warn({ error }, 'a process for replays could not be ended'))
  }
  const take = (): Tinypool => {
    const [pool = open()] = idle
    idle.delete(pool)
    return pool
  }

  const ask = async (job: ReplayJob, signal: AbortSignal): Promise<ReplayAnswer> => {
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted()
      const pool = take()
      try {
        const answer = await pool.run(job, { signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]) })
        idle.add(pool)
        return answer
      } catch (cause) {
        discard(pool)
        signal.throwIfAborted()
        const { leaseId } = job.request.expected
        logger.warn({ lease: leaseId, attempt, error: cause }, 'a process ended during the replay of a group')
        if (attempt === ATTEMPTS)
          throw new Error(`the replay of ${leaseId} ended its process ${ATTEMPTS} times`, { cause })
      }
    }
  }

  return {
    atOnce: workers,
    async judge(request, signal) {
      const { checks, result } = await ask({ setup, request }, signal)
      for (const { number, outcome, ms } of checks) watch.onCheck(number, outcome, ms)
      if (result.is === 'replayed') return result.rollouts
      if (result.is === 'failed') throw new Error(result.why)
      if (result.unstable) throw new NondeterministicEnvironments(result.unstable)
      throw new SwarmRefusal(result.effect, result.code, result.detail)
    },
    async close() {
      const open = [...all]
      idle.clear()
      all.clear()
      await Promise.all(open.map((pool) => pool.destroy()))
    },
  }
}
