import type { GroupAnnouncement } from '../../../proto/index.js'
import { createReferenceSource, runEpisode } from '../../../rollout/episode/index.js'
import { GROUP_SIZE, LIMITS_OF_RUN } from '../arena-run.js'
import { groupAttack } from '../group-attack.js'
import { scriptedGroup } from '../scripted-group.js'

/** Credit for nothing, and the task rests: a group whose rewards are equal is believed unless it is drawn for judging. */
export const falseZeroVariance = groupAttack({
  name: 'false-flat',
  about: 'claims equal rewards for rollouts that differ, or that were not sampled',
  provable: false,
  places: ['3', '5', '6'],
  codes: ['reward_mismatch', 'logprob_mismatch', 'sampler_mismatch'],
  zeroVariance: true,
  async make(arena, work, i, signal) {
    if (i % 2 === 0) {
      const announce = {
        announce: (honest: GroupAnnouncement) => ({ ...honest, rewards: honest.rewards.map(() => 1) }),
      }
      return { rollouts: await scriptedGroup(arena, work, signal), forgery: announce }
    }
    const { task } = work
    const source = createReferenceSource(['I cannot help with that.'], arena.runtime)
    const lazy = await runEpisode(task, source, arena.runtime, LIMITS_OF_RUN, signal)
    return { rollouts: Array.from({ length: GROUP_SIZE }, () => lazy) }
  },
})
