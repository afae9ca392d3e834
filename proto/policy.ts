import canonicalize from 'canonicalize'
import { bytesOf, distinct, finite, hexOf, identifier, integer, label, present } from './bounds.js'
import type { Decoded } from './codec.js'
import { type Sha256, sha256 } from './content-id.js'
import { refusal } from './errors.js'
import type { prove } from './gen/swarm.js'
import { LIMITS } from './limits.js'
import { bytes, double, message, number, type WireShape } from './wire-shape.js'

export interface AdapterDescription {
  /** Hash of the GGUF adapter file. */
  readonly sha256: Sha256
  readonly sizeBytes: number
  readonly rank: number
  readonly alpha: number
  /** PEFT's names, for example `q_proj`. */
  readonly targetModules: readonly string[]
}

export interface SamplerSettings {
  readonly temperature: number
  /** 0: off. */
  readonly topK: number
  /** 1: off. */
  readonly topP: number
  /** 0: off. */
  readonly minP: number
  /** 1: off. */
  readonly repeatPenalty: number
  /** Name of the rule that samples tokens from the distribution by a seed. */
  readonly draw: string
}

/** Everything that determines the tokens of a seed, and the reward of a rollout. */
export interface PolicyDescription {
  readonly base: { readonly name: string; readonly ggufSha256: Sha256; readonly quantisation: string }
  readonly adapter: AdapterDescription | null
  readonly chatTemplateSha256: Sha256
  readonly toolCallFormat: string
  readonly toolsetSchemaSha256: Sha256
  readonly sampler: SamplerSettings
  /** Version range of the binding, and build of llama.cpp, that the canary was made for. */
  readonly engine: { readonly nodeLlamaCpp: string; readonly llamaCpp: string }
  /** Name of the reward preset. */
  readonly reward: string
  /** Data type of the engine's key-value cache, which determines its rounding errors. */
  readonly cacheType: string
}

/** The default cache type, which is not part of a policy's name. */
const USUAL_CACHE = 'f16'

/** The policy's own distribution, for which sampling can be replayed. A reported log-probability is that of the full softmax. */
export const PLAIN_SAMPLER = { temperature: 1, topK: 0, topP: 1, minP: 0, repeatPenalty: 1 } as const

/**
 * Returns the policy's id: SHA-256 over a domain prefix and the canonical JSON (RFC 8785) of its description. Target modules are a set, so
 * their order has no effect.
 */
export function policyIdOf(policy: PolicyDescription): Sha256 {
  const { cacheType, ...described } = policy
  const { adapter } = described
  const canonical = canonicalize({
    ...described,
    ...(cacheType === USUAL_CACHE ? {} : { cacheType }),
    adapter: adapter && { ...adapter, targetModules: [...adapter.targetModules].sort() },
  })
  return sha256(new TextEncoder().encode(`prove/policy/1\n${canonical}`))
}

export const POLICY_SHAPE: WireShape = {
  1: message({ 1: bytes(), 2: bytes(), 3: bytes() }),
  2: message({ 1: bytes(), 2: number(), 3: number(), 4: double(), 5: bytes(LIMITS.targetModules.value) }),
  3: bytes(),
  4: bytes(),
  5: bytes(),
  6: message({ 1: double(), 2: number(), 3: double(), 4: double(), 5: double(), 6: bytes() }),
  7: message({ 1: bytes(), 2: bytes() }),
  8: bytes(),
  9: bytes(),
}

export function readPolicy(wire: Decoded<prove.Policy.$Properties>): PolicyDescription {
  const base = present(wire.base, 'base')
  const sampler = present(wire.sampler, 'sampler')
  const engine = present(wire.engine, 'engine')
  return {
    base: {
      name: label(base.name, 'nameBytes', 'base name'),
      ggufSha256: hexOf(base.ggufSha256, 32, 'base hash'),
      quantisation: label(base.quantisation, 'shortNameBytes', 'quantisation'),
    },
    adapter: wire.adapter ? readAdapter(wire.adapter) : null,
    chatTemplateSha256: hexOf(wire.chatTemplateSha256, 32, 'chat template hash'),
    toolCallFormat: identifier(wire.toolCallFormat, 'shortNameBytes', 'tool-call format'),
    toolsetSchemaSha256: hexOf(wire.toolsetSchemaSha256, 32, 'toolset schema hash'),
    sampler: {
      temperature: finite(sampler.temperature, 0, LIMITS.samplerSetting.value, 'temperature'),
      topK: integer(sampler.topK, 0, LIMITS.tokenId.value, 'topK'),
      topP: finite(sampler.topP, 0, 1, 'topP'),
      minP: finite(sampler.minP, 0, 1, 'minP'),
      repeatPenalty: finite(sampler.repeatPenalty, 0, LIMITS.samplerSetting.value, 'repeat penalty'),
      draw: identifier(sampler.draw, 'shortNameBytes', 'draw'),
    },
    engine: {
      nodeLlamaCpp: label(engine.nodeLlamaCpp, 'nameBytes', 'node-llama-cpp range'),
      llamaCpp: label(engine.llamaCpp, 'nameBytes', 'llama.cpp build'),
    },
    reward: identifier(wire.reward, 'shortNameBytes', 'reward'),
    cacheType: wire.cacheType === '' ? USUAL_CACHE : identifier(wire.cacheType, 'shortNameBytes', 'cache type'),
  }
}

function readAdapter(wire: Decoded<prove.Adapter.$Properties>): AdapterDescription {
  const targetModules = wire.targetModules.map((name) => identifier(name, 'nameBytes', 'target module'))
  if (targetModules.length === 0) throw refusal('malformed', 'adapter without target modules')
  distinct(targetModules, 'target modules')
  return {
    sha256: hexOf(wire.sha256, 32, 'adapter hash'),
    sizeBytes: integer(wire.sizeBytes, 1, 2 ** 32 - 1, 'adapter size'),
    rank: integer(wire.rank, 1, LIMITS.adapterRank.value, 'rank'),
    alpha: finite(wire.alpha, 0, LIMITS.adapterAlpha.value, 'alpha'),
    targetModules,
  }
}

export const writePolicy = (policy: PolicyDescription): prove.Policy.$Properties => ({
  base: { ...policy.base, ggufSha256: bytesOf(policy.base.ggufSha256) },
  adapter: policy.adapter && {
    ...policy.adapter,
    sha256: bytesOf(policy.adapter.sha256),
    targetModules: [...policy.adapter.targetModules],
  },
  chatTemplateSha256: bytesOf(policy.chatTemplateSha256),
  toolCallFormat: policy.toolCallFormat,
  toolsetSchemaSha256: bytesOf(policy.toolsetSchemaSha256),
  sampler: policy.sampler,
  engine: policy.engine,
  reward: policy.reward,
  ...(policy.cacheType === USUAL_CACHE ? {} : { cacheType: policy.cacheType }),
})
