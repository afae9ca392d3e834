import { createHash } from 'node:crypto'
import { LIMITS, type PolicyManifest } from '../../proto/index.js'
import { DRAW, type Tokenizer } from '../../rollout/engine/index.js'
import { type Catalogue, DEFAULT_LIMITS, toolsetSchemaSha256 } from '../../rollout/episode/index.js'
import { largestBody } from '../../rollout/verification/index.js'
import { NodeError } from '../report/errors.js'

/** The parts of a node that must fit a run. */
export interface InstalledParts {
  /** Tokenizer of the base model. */
  readonly tokenizer: Tokenizer
  readonly baseSha256: string
  readonly catalogue: Catalogue
}

/**
 * Checks that a node can work under a manifest: base model, template, sampling method, environments and size of a group.
 * @throws NodeError `wrong_base`, `incompatible`
 */
export function checkCompatible(
  { policy, taskSpec, limits: { groupSize, ...limits } }: PolicyManifest,
  { tokenizer, baseSha256, catalogue }: InstalledParts,
): void {
  if (policy.base.ggufSha256 !== baseSha256) {
    throw new NodeError(
      'wrong_base',
      `the run uses ${policy.base.name} with SHA-256 ${policy.base.ggufSha256}; this node has ${baseSha256}`,
    )
  }
  const template = createHash('sha256').update(tokenizer.chatTemplate).digest('hex')
  if (policy.chatTemplateSha256 !== template)
    throw new NodeError('incompatible', 'the run uses another chat template than the base model contains')
  const { draw } = policy.sampler
  if (draw !== DRAW)
    throw new NodeError(
      'incompatible',
      `the run samples tokens with ${draw}, but this version of the node only with ${DRAW}: update the node`,
    )
  const names = (taskSpec.environments ?? '').split(',')
  const environments = names.flatMap((name) => catalogue.get(name) ?? [])
  const missing = names.filter((name) => !catalogue.has(name))
  if (missing.length > 0)
    throw new NodeError(
      'incompatible',
      `this node lacks environments of the run: ${missing.join(', ')}. Get their folders from the operator, read their code, and name each folder with --environments`,
    )
  if (policy.toolsetSchemaSha256 !== toolsetSchemaSha256(environments))
    throw new NodeError(
      'incompatible',
      `the run's environments (${names.join(', ')}) differ from those of this version of the node: update the node`,
    )
  if (largestBody(groupSize, { ...DEFAULT_LIMITS, ...limits }) > LIMITS.groupBodyBytes.value) {
    throw new NodeError(
      'incompatible',
      `the run's groups of ${groupSize} rollouts of up to ${limits.maxRolloutTokens} tokens may be too large to send: report this to its operator`,
    )
  }
}
