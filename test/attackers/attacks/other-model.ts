import { openEngine } from '../../../rollout/engine/index.js'
import { runGroup } from '../../../rollout/episode/index.js'
import { GROUP_SIZE, LIMITS_OF_RUN } from '../arena-run.js'
import { ENOUGH_TOKENS, groupAttack } from '../group-attack.js'

export const otherModel = groupAttack({
  name: 'other-model',
  about: 'samples from weights with 10 % noise, with the true adapter',
  provable: false,
  places: ['5', '6'],
  codes: ['logprob_mismatch', 'sampler_mismatch', 'implausible_end'],
  tokens: ENOUGH_TOKENS,
  async make({ run, runtime }, { task, seed, policy }, _, signal) {
    const { maxRolloutTokens: contextSize } = LIMITS_OF_RUN
    const engine = await openEngine({
      modelPath: run.noisyModel,
      threads: 1,
      contextSize,
      slots: GROUP_SIZE,
      gpu: false,
    })
    try {
      await engine.usePolicy(policy.adapter, signal)
      return { rollouts: await runGroup(task, GROUP_SIZE, seed, engine, runtime, LIMITS_OF_RUN, signal) }
    } finally {
      await engine.close()
    }
  },
})
