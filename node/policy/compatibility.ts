import { createHash } from 'node:crypto'
import { LIMITS, type PolicyManifest } from '../../proto/index.js'
import { DRAW, type Tokenizer } from '../../rollout/engine/index.js'
import { type Catalogue, DEFAULT_LIMITS, toolsetSchemaSha256 } from '../../rollout/episode/index.js'
import { largestBody } from '../../rollout/verification/index.js'
import { NodeError } from '../report/errors.js'

/** What a node brings that a run may ask for. */
export interface InstalledParts {
  /** Of the base model. */
  readonly tokenizer: Tokenizer
  readonly baseSha256: string
  readonly catalogue: Catalogue
}

/**
 * Checks that a node can work under a manifest: with its base, its template, its way of drawing, its worlds, in groups that can be sent.
 * @throws NodeError `wrong_base`, `incompatible`
 */
export function checkCompatible(
  { policy, taskSpec, limits: { groupSize, ...limits } }: PolicyManifest,
  { tokenizer, baseSha256, catalogue }: InstalledParts,
): void {
  if (policy.base.ggufSha256 !== baseSha256) {
    throw new NodeError(
      'wrong_base',
      `the run uses ${policy.base.name} with SHA-256 ${policy.base.ggufSha256}; yours has ${baseSha256}`,
    )
  }
  const template = createHash('sha256').update(tokenizer.chatTemplate).digest('hex')
  if (policy.chatTemplateSha256 !== template)
    throw new NodeError('incompatible', 'another chat template than the base model holds')
  const { draw } = policy.sampler
  if (draw !== DRAW)
    throw new NodeError('incompatible', `the run's tokens are drawn by ${draw}, this version of the node knows ${DRAW}`)
  const names = (taskSpec.servers ?? '').split(',')
  const environments = names.flatMap((name) => catalogue.get(name) ?? [])
  const missing = names.filter((name) => !catalogue.has(name))
  if (missing.length > 0)
    throw new NodeError(
      'incompatible',
      `the run plays in worlds that this node does not have (${missing.join(', ')}): get their folders from whoever runs it, look at their code, and start the node with --environments <folder> for each`,
    )
  if (policy.toolsetSchemaSha256 !== toolsetSchemaSha256(environments))
    throw new NodeError(
      'incompatible',
      `the run's worlds (${names.join(', ')}) are not those of this version of the node`,
    )
  if (largestBody(groupSize, { ...DEFAULT_LIMITS, ...limits }) > LIMITS.groupBodyBytes.value) {
    throw new NodeError(
      'incompatible',
      `the run's groups of ${groupSize} rollouts of up to ${limits.maxRolloutTokens} tokens may be too large to be sent`,
    )
  }
}
