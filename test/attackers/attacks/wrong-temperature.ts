import { runGroup } from '../../../rollout/episode/index.js'
import { GROUP_SIZE, LIMITS_OF_RUN } from '../arena-run.js'
import { openCheatEngine } from '../cheat-engine.js'
import { ENOUGH_TOKENS, groupAttack } from '../group-attack.js'

export const wrongTemperature = groupAttack({
  name: 'wrong-temperature',
  about: 'samples at temperature 0.7 or 1.3 instead of 1',
  provable: false,
  places: ['5', '6'],
  codes: ['logprob_mismatch', 'sampler_mismatch', 'implausible_end'],
  tokens: ENOUGH_TOKENS,
  async make({ run, runtime }, { task, seed, policy }, i, signal) {
    const engine = await openCheatEngine({
      modelPath: run.model,
      adapter: policy.adapter.path,
      slots: GROUP_SIZE,
      contextSize: LIMITS_OF_RUN.maxRolloutTokens,
      temperature: i % 2 === 0 ? 0.7 : 1.3,
    })
    try {
      return { rollouts: await runGroup(task, GROUP_SIZE, seed, engine, runtime, LIMITS_OF_RUN, signal) }
    } finally {
      await engine.close()
    }
  },
})
