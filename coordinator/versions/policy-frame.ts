import { PLAIN_SAMPLER, type PolicyDescription, type Sha256, sha256 } from '../../proto/index.js'
import { USUAL_CACHE } from '../../rollout/engine/index.js'
import { type EpisodeRuntime, toolsetSchemaSha256 } from '../../rollout/episode/index.js'
import type { Environment } from '../../servers/kernel/index.js'
import type { RunConfiguration } from '../ledger/run-configuration.js'

/** What all policies of a run have in common: everything but the adapter. */
export type PolicyFrame = Omit<PolicyDescription, 'adapter'>

/** What the canary's expectations were measured to hold for; any build of llama.cpp behind that binding. */
const ENGINE_RANGE = { nodeLlamaCpp: '3.22.x', llamaCpp: '*' }

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

export const chatTemplateSha256 = ({ tokenizer }: EpisodeRuntime): Sha256 =>
  sha256(new TextEncoder().encode(tokenizer.chatTemplate))
