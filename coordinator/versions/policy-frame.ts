import { PLAIN_SAMPLER, type PolicyDescription, type Sha256, sha256 } from '../../proto/index.js'
import { USUAL_CACHE } from '../../rollout/engine/index.js'
import { type EpisodeRuntime, toolsetSchemaSha256 } from '../../rollout/episode/index.js'
import type { Environment } from '../../servers/kernel/index.js'
import type { RunConfiguration } from '../ledger/run-configuration.js'

/** The part of a policy description that all policies of a run share: everything but the adapter. */
export type PolicyFrame = Omit<PolicyDescription, 'adapter'>

/** Engines for which the log-probabilities of canaries were measured to hold: any llama.cpp build of that binding. */
const ENGINE_RANGE = { nodeLlamaCpp: '3.22.x', llamaCpp: '*' }

/** Returns the policy frame of a run configuration. */
export function policyFrame(
  { base, toolCallFormat, draw, reward, cacheType = USUAL_CACHE }: RunConfiguration,
  environments: readonly Environment[],
): PolicyFrame {
  return {
    base: { name: base.name, ggufSha256: base.ggufSha256, quantisation: base.quantisation },
    chatTemplateSha256: base.chatTemplateSha256,
    toolCallFormat,
    toolsetSchemaSha256: toolsetSchemaSha256(environments),
    sampler: { ...PLAIN_SAMPLER, draw },
    engine: ENGINE_RANGE,
    reward,
    cacheType,
  }
}

/** Returns the hash of the tokenizer's chat template. */
export const chatTemplateSha256 = ({ tokenizer }: EpisodeRuntime): Sha256 =>
  sha256(new TextEncoder().encode(tokenizer.chatTemplate))
