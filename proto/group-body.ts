import {
  bytesOf,
  distinct,
  finite,
  hexOf,
  identifier,
  integer,
  label,
  logprobs,
  present,
  text,
  tokens,
} from './bounds.js'
import { type Codec, codec, type Decoded } from './codec.js'
import type { Sha256 } from './content-id.js'
import { refusal } from './errors.js'
import { prove } from './gen/swarm.js'
import { ID_BYTES } from './lease.js'
import { LIMITS } from './limits.js'
import { maskLength } from './mask.js'
import { bytes, double, message, number, packed } from './wire-shape.js'

/** One tool call, as the node recorded it. */
export interface RecordedCall {
  /** Empty only if the call is malformed and has no name. */
  readonly name: string
  readonly argumentsJson: string
  /** The call was executed, and the environment reported no error. */
  readonly ok: boolean
  /** The call block could not be parsed. `raw` then contains its text. */
  readonly malformed: boolean
  readonly raw: string
  readonly resultJson: string
}

export interface RecordedReward {
  readonly total: number
  /** `null`: the component is undefined for this task (abstention). */
  readonly components: readonly { readonly name: string; readonly value: number | null }[]
}

export interface RecordedRollout {
  /** Prompt, sampled and environment tokens in order. */
  readonly tokens: readonly number[]
  /** Lengths of alternating runs: prompt (mask 0), first turn (mask 1), environment (mask 0), and so on. */
  readonly maskRuns: readonly number[]
  /** Natural-log probability of each sampled token (mask 1), in order; float32 on the wire. */
  readonly logprobs: readonly number[]
  readonly calls: readonly RecordedCall[]
  readonly reward: RecordedReward
  /** Hash of the environment's final state. */
  readonly stateHash: Sha256
  readonly endReason: string
}

/** All data that verification needs of a group. An announcement names its bytes by hash. */
export interface GroupBody {
  readonly leaseId: string
  readonly taskId: string
  readonly policyId: Sha256
  /** In the order of the lease. */
  readonly rollouts: readonly RecordedRollout[]
  readonly engine: { readonly nodeLlamaCpp: string; readonly llamaCpp: string; readonly backend: string }
  readonly generationMs: number
}

export const groupBody: Codec<GroupBody> = codec<GroupBody, prove.GroupBody.$Properties>({
  what: 'group body',
  limit: 'groupBodyBytes',
  type: prove.GroupBody,
  shape: {
    1: bytes(),
    2: bytes(),
    3: bytes(),
    4: message(
      {
        1: packed(0),
        2: packed(0),
        3: packed(4),
        4: message(
          { 1: bytes(), 2: bytes(), 3: number(), 4: number(), 5: bytes(), 6: bytes() },
          LIMITS.callsPerRollout.value,
        ),
        5: message({ 1: double(), 2: message({ 1: bytes(), 2: double() }, LIMITS.rewardComponents.value) }),
        6: bytes(),
        7: bytes(),
      },
      LIMITS.maxGroupSize.value,
    ),
    5: message({ 1: bytes(), 2: bytes(), 3: bytes() }),
    6: number(),
  },
  read: (wire) => {
    const engine = present(wire.engine, 'engine')
    integer(wire.rollouts.length, LIMITS.minGroupSize.value, LIMITS.maxGroupSize.value, 'group size')
    return {
      leaseId: hexOf(wire.leaseId, ID_BYTES, 'lease id'),
      taskId: label(wire.taskId, 'nameBytes', 'task id'),
      policyId: hexOf(wire.policyId, 32, 'policy id'),
      rollouts: wire.rollouts.map(readRollout),
      engine: {
        nodeLlamaCpp: label(engine.nodeLlamaCpp, 'nameBytes', 'node-llama-cpp version'),
        llamaCpp: label(engine.llamaCpp, 'nameBytes', 'llama.cpp build'),
        backend: label(engine.backend, 'shortNameBytes', 'backend'),
      },
      generationMs: integer(wire.generationMs, 0, 2 ** 32 - 1, 'generation time'),
    }
  },
  write: (body) => ({
    ...body,
    leaseId: bytesOf(body.leaseId),
    policyId: bytesOf(body.policyId),
    rollouts: body.rollouts.map((rollout) => ({
      // Checked here too, because the encoder would silently convert -1 or 1.5 to another token.
      tokens: [...tokens(rollout.tokens, 'rolloutTokens', 'rollout')],
      maskRuns: [...rollout.maskRuns],
      logprobs: [...rollout.logprobs],
      calls: [...rollout.calls],
      reward: { total: rollout.reward.total, components: [...rollout.reward.components] },
      stateHash: bytesOf(rollout.stateHash),
      endReason: rollout.endReason,
    })),
  }),
})

function readRollout(wire: Decoded<prove.Rollout.$Properties>, position: number): RecordedRollout {
  const what = `rollout ${position}`
  integer(wire.maskRuns.length, 2, LIMITS.maskRuns.value, `mask runs of ${what}`)
  for (const run of wire.maskRuns) integer(run, 1, LIMITS.rolloutTokens.value, `a mask run of ${what}`)
  const { total, sampled } = maskLength(wire.maskRuns)
  if (total !== wire.tokens.length)
    throw refusal('malformed', `${what}: mask of ${total} for ${wire.tokens.length} tokens`)
  if (sampled !== wire.logprobs.length) {
    throw refusal('malformed', `${what}: ${wire.logprobs.length} log-probabilities for ${sampled} sampled tokens`)
  }
  return {
    tokens: tokens(wire.tokens, 'rolloutTokens', what),
    maskRuns: wire.maskRuns,
    logprobs: logprobs(wire.logprobs, `a log-probability of ${what}`),
    calls: wire.calls.map(readCall),
    reward: readReward(present(wire.reward, `reward of ${what}`)),
    stateHash: hexOf(wire.stateHash, 32, `state hash of ${what}`),
    endReason: identifier(wire.endReason, 'shortNameBytes', `end reason of ${what}`),
  }
}

const readCall = (wire: Decoded<prove.Call.$Properties>): RecordedCall => ({
  name: text(wire.name, 'nameBytes', 'tool name'),
  argumentsJson: text(wire.argumentsJson, 'callTextBytes', 'arguments'),
  ok: wire.ok,
  malformed: wire.malformed,
  raw: text(wire.raw, 'callTextBytes', 'raw call'),
  resultJson: text(wire.resultJson, 'callTextBytes', 'result'),
})

function readReward(wire: Decoded<prove.Reward.$Properties>): RecordedReward {
  const inRange = (value: number, what: string): number =>
    finite(value, -LIMITS.rewardMagnitude.value, LIMITS.rewardMagnitude.value, what)
  distinct(
    wire.components.map((component) => component.name),
    'reward components',
  )
  return {
    total: inRange(wire.total, 'reward'),
    components: wire.components.map((component) => {
      const name = identifier(component.name, 'shortNameBytes', 'reward component')
      const value: number | null | undefined = component.value
      return { name, value: value === null || value === undefined ? null : inRange(value, name) }
    }),
  }
}
