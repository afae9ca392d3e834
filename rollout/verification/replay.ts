import { type RecordedCall, type RecordedRollout, type RefusalCode, refusal, SwarmRefusal } from '../../proto/index.js'
import { type Rollout, runEpisode } from '../episode/index.js'
import { bodyOf, type DeliveredGroup } from './delivered-group.js'
import { nondeterministicEnvironments } from './environment-determinism.js'
import { recordCall } from './recorded-call.js'
import { playbackRefusal, sourceOf } from './rollout-source.js'

/** Refusals that a nondeterministic environment can cause. */
const REPLAY_DIFFERS: ReadonlySet<RefusalCode> = new Set([
  'environment_mismatch',
  'replay_mismatch',
  'state_mismatch',
  'reward_mismatch',
  'termination',
])

/**
 * Check 3: replays every rollout in fresh sessions. Everything that can be recomputed must be equal, without tolerance. Before a
 * difference counts against the node, the environments are tested for determinism.
 */
export async function checkReplay(group: DeliveredGroup, signal: AbortSignal): Promise<void> {
  const { announced } = group
  const { rollouts } = bodyOf(group)
  // The announcement is compared with the body here, and the body with the replay below.
  if (announced?.rewards.some((reward, i) => reward !== rollouts[i]!.reward.total))
    throw refusal('reward_mismatch', 'the announced rewards differ from those of the body')
  try {
    const replayed: Rollout[] = []
    for (const [i, recorded] of rollouts.entries()) replayed.push(await replay(recorded, i, group, signal))
    group.replayed = replayed
  } catch (why) {
    if (why instanceof SwarmRefusal && REPLAY_DIFFERS.has(why.code)) await blameEnvironment(group, signal)
    throw why
  }
}

async function blameEnvironment(group: DeliveredGroup, signal: AbortSignal): Promise<void> {
  const { expected, replayContext } = group
  for (const recorded of bodyOf(group).rollouts) {
    const unstable = await nondeterministicEnvironments(recorded, expected.task, expected.limits, replayContext, signal)
    if (unstable.length > 0) throw new NondeterministicEnvironments(unstable)
  }
}

/** Refusal of a group whose environments gave different results in equal replays. */
export class NondeterministicEnvironments extends SwarmRefusal {
  constructor(readonly environments: readonly string[]) {
    const { effect, code, detail } = refusal('environment_nondeterministic', environments.join(', '))
    super(effect, code, detail)
  }
}

async function replay(
  recorded: RecordedRollout,
  i: number,
  group: DeliveredGroup,
  signal: AbortSignal,
): Promise<Rollout> {
  const rollout = await play(recorded, i, group, signal)
  if (!sameCalls(recorded.calls, rollout))
    throw refusal('replay_mismatch', `rollout ${i}: the call log differs from the replay`)
  if (recorded.stateHash !== rollout.stateHash) throw refusal('state_mismatch', `rollout ${i}`)
  if (!sameReward(recorded, rollout)) {
    throw refusal(
      'reward_mismatch',
      `rollout ${i}: claimed ${recorded.reward.total}, recomputed ${rollout.reward.total}`,
    )
  }
  if (recorded.endReason !== rollout.end)
    throw refusal('termination', `rollout ${i}: ${recorded.endReason}, not ${rollout.end}`)
  return rollout
}

async function play(
  recorded: RecordedRollout,
  i: number,
  group: DeliveredGroup,
  signal: AbortSignal,
): Promise<Rollout> {
  const { expected, replayContext } = group
  try {
    const source = sourceOf(recorded, group)
    const rollout = await runEpisode(expected.task, source, replayContext, expected.limits, signal)
    source.assertConsumed()
    return rollout
  } catch (cause) {
    throw playbackRefusal(cause, i)
  }
}

function sameCalls(claimed: readonly RecordedCall[], { calls, responses }: Rollout): boolean {
  if (claimed.length !== calls.length) return false
  return claimed.every((claim, k) => sameCall(claim, recordCall(calls[k]!, responses[k]!)))
}

const sameCall = (claim: RecordedCall, call: RecordedCall): boolean =>
  claim.name === call.name &&
  claim.argumentsJson === call.argumentsJson &&
  claim.ok === call.ok &&
  claim.malformed === call.malformed &&
  claim.raw === call.raw &&
  claim.resultJson === call.resultJson

function sameReward({ reward: claimed }: RecordedRollout, { reward }: Rollout): boolean {
  if (claimed.total !== reward.total) return false
  const components = Object.entries(reward.components ?? {})
  return (
    claimed.components.length === components.length &&
    components.every(
      ([name, value], k) => claimed.components[k]!.name === name && claimed.components[k]!.value === value,
    )
  )
}
