import { Tinypool } from 'tinypool'
import { SwarmRefusal } from '../../proto/index.js'
import { type CheckWatch, NondeterministicEnvironments } from '../../rollout/verification/index.js'
import type { SwarmLogger } from '../../swarm/index.js'
import type { ReplayAnswer, ReplayJob, Surroundings } from './replay-worker.js'
import type { Replays } from './replays.js'

export interface ReplayPoolParts {
  readonly workers: number
  readonly surroundings: Surroundings
  readonly watch: CheckWatch
  readonly logger: Pick<SwarmLogger, 'warn'>
}

export interface ReplayPool extends Replays {
  /** Ends the processes. */
  close(): Promise<void>
}

/** `replay-worker.js` when built, `replay-worker.ts` when run from the sources. */
const WORKER = new URL(`./replay-worker${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url)
/** For one group. It takes milliseconds, and a process a second to start: a world that loops for ever must not keep the process that it is in. */
const PATIENCE_MS = 60_000
/** One that a process ends over again ends the next one as well. */
const ATTEMPTS = 2

/**
 * Processes that replay groups beside the coordinator's own thread. One that ends, or does not answer in time, takes nothing with it:
 * another one is started, and does the same again. They are started when groups come.
 */
export function createReplayPool(parts: ReplayPoolParts): ReplayPool {
  const { workers, surroundings, watch, logger } = parts
  // A pool of one for each: whatever waits in a pool while its process ends at its start would wait for ever.
  const idle = new Set<Tinypool>()
  const all = new Set<Tinypool>()

  const open = (): Tinypool => {
    const pool = new Tinypool({
      filename: WORKER.href,
      runtime: 'child_process',
      minThreads: 1,
      maxThreads: 1,
      // Bodies are bytes.
      serialization: 'advanced',
      env: process.env as Record<string, string>,
    })
    all.add(pool)
    pool.on('error', (error: unknown) => {
      logger.warn({ error }, 'a process for replays ended while it had nothing to do')
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
        logger.warn({ lease: leaseId, attempt, error: cause }, 'a process ended over the replay of a group')
        if (attempt === ATTEMPTS)
          throw new Error(`the replay of ${leaseId} ended its process ${ATTEMPTS} times`, { cause })
      }
    }
  }

  return {
    atOnce: workers,
    async judge(request, signal) {
      const { checks, result } = await ask({ surroundings, request }, signal)
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
