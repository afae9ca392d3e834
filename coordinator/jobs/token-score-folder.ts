import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { CodedError } from '../../common/errors/index.js'
import type { SampledToken } from '../../rollout/verification/sampled-token.js'
import { type AuditedRollout, rolesOf, type TokenReader } from '../../rollout/verification/sampled-turns.js'
import { FILES } from './layout.js'
import { decodeFloat64s } from './safetensors.js'

/** The token scores of a job are missing, damaged, or belong to another job. */
export class TokenScoreError extends CodedError<'bad_token_scores'> {}

/** Tensors of `token-scores.safetensors`. */
export const TENSORS = ['logp', 'expected_mismatch', 'logit_error'] as const

/** An audit or a batch whose tokens were scored. */
export interface ScoringJob {
  readonly name: string
  /** Reads the manifest that the answer has to refer to. */
  manifest(): Promise<Uint8Array>
  /** Scored groups, in order. */
  readonly groups: readonly { readonly rollouts: readonly AuditedRollout[] }[]
}

const answer = z.object({ auditId: z.string(), manifestSha256: z.string(), tokenScoresSha256: z.string() })

/**
 * Reads the token scores of a job's groups, joined with the log-probabilities that the node reports.
 * @returns per group, in order, its sampled tokens
 * @throws TokenScoreError when the answer is damaged or belongs to another job
 */
export async function readTokenScoreFolder(
  folder: string,
  { name, manifest, groups }: ScoringJob,
  reader: TokenReader,
): Promise<SampledToken[][]> {
  let tensors: Record<(typeof TENSORS)[number], Float64Array>
  try {
    const bytes = await readFile(join(folder, FILES.tokenScores))
    const { auditId, manifestSha256, tokenScoresSha256 } = answer.parse(
      JSON.parse(await readFile(join(folder, FILES.answer), 'utf8')),
    )
    if (auditId !== name) throw new Error(`they belong to ${auditId}`)
    if (manifestSha256 !== sha256Of(await manifest())) throw new Error('they belong to another job')
    if (tokenScoresSha256 !== sha256Of(bytes)) throw new Error('their hash does not match')
    tensors = decodeFloat64s(bytes, TENSORS)
  } catch (cause) {
    throw new TokenScoreError(
      'bad_token_scores',
      `the token scores of ${name}: ${(cause as Error).message.slice(0, 400)}`,
      {
        cause,
      },
    )
  }
  const sampled = groups.flatMap(({ rollouts }) => rollouts.flatMap(({ logprobs }) => logprobs)).length
  if (
    TENSORS.some(
      (tensor) => tensors[tensor].length !== sampled || tensors[tensor].some((value) => !Number.isFinite(value)),
    )
  )
    throw new TokenScoreError(
      'bad_token_scores',
      `the token scores of ${name} are not one finite number for each of ${sampled} tokens`,
    )
  let at = 0
  return groups.map(({ rollouts }) =>
    rollouts.flatMap((rollout) => {
      const roles = rolesOf(rollout, reader)
      return rollout.logprobs.map((claimed, k): SampledToken => {
        const i = at++
        return {
          claimed,
          logp: tensors.logp[i]!,
          expectedMismatch: tensors.expected_mismatch[i]!,
          logitError: tensors.logit_error[i]!,
          ...roles[k]!,
        }
      })
    }),
  )
}

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
