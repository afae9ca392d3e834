import { execa } from 'execa'
import { z } from 'zod'
import { TrainerError } from './errors.js'
import { pythonEnvironment } from './python-process.js'

/** Token sequences whose continuations are scored. */
export interface CanaryTokens {
  readonly prompt: readonly number[]
  readonly continuation: readonly number[]
}

export interface ReferenceRequest {
  readonly python: string
  /** Folder of the `prove_trainer` package. */
  readonly packageFolder: string
  readonly base: string
  readonly baseSha256: string
  /** Paths of adapters. */
  readonly adapters: readonly string[]
  readonly canaries: readonly CanaryTokens[]
  readonly threads: number
}

/** An 8B model reads its layers once for each policy, which takes minutes on a CPU. */
const TIMEOUT_MS = 2 * 3_600_000
const MOST_BYTES = 256 * 1024 * 1024

const answer = z.object({ scores: z.array(z.array(z.array(z.number()))) })

/**
 * Returns the trainer's reference scores: log-probabilities (nats) of each canary's continuation in float32, under the bare base and
 * then under each adapter.
 * @throws TrainerError `trainer_failed`, `trainer_unusable`; the signal's reason
 */
export async function referenceScores(request: ReferenceRequest, signal: AbortSignal): Promise<number[][][]> {
  const { python, packageFolder, base, baseSha256, adapters, canaries, threads } = request
  const input = JSON.stringify({
    ...{ base, baseSha256, threads },
    adapters: adapters.map((path) => ({ path })),
    canaries: canaries.map(({ prompt, continuation }) => ({ prompt, continuation })),
  })
  const ended = await execa(python, ['-m', 'prove_trainer.reference'], {
    env: pythonEnvironment(packageFolder),
    input,
    reject: false,
    cancelSignal: signal,
    timeout: TIMEOUT_MS,
    maxBuffer: MOST_BYTES,
  })
  signal.throwIfAborted()
  if (ended.exitCode === undefined && ended.code !== undefined)
    throw new TrainerError('trainer_unusable', `${python}: ${ended.originalMessage}`)
  const fail = (why: string): TrainerError =>
    new TrainerError('trainer_failed', `reference scores: ${why.slice(0, 400)}`)
  if (ended.exitCode !== 0) throw fail(ended.stderr.trim().split('\n').at(-1) ?? `status ${ended.exitCode}`)
  const { scores } = answer.parse(JSON.parse(ended.stdout))
  const isWhole = scores.every((own) => canaries.every(({ continuation }, i) => own[i]?.length === continuation.length))
  if (scores.length !== 1 + adapters.length || !isWhole) throw fail('not one score per token of each canary')
  return scores
}
