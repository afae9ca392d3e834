import { groupAttack } from '../group-attack.js'
import type { Forgery } from '../group-work.js'
import { scriptedGroup } from '../scripted-group.js'

/** In body and announcement, in the announcement alone, in one component alone. */
export const FORGED_REWARDS: readonly Forgery[] = [
  {
    body: (body) => ({
      ...body,
      rollouts: body.rollouts.map((rollout, i) =>
        i === 0 ? { ...rollout, reward: { ...rollout.reward, total: rollout.reward.total + 0.25 } } : rollout,
      ),
    }),
    announce: (announcement) => ({
      ...announcement,
      rewards: announcement.rewards.with(0, announcement.rewards[0]! + 0.25),
    }),
  },
  { announce: (announcement) => ({ ...announcement, rewards: [...announcement.rewards].reverse() }) },
  {
    body: (body) => ({
      ...body,
      rollouts: body.rollouts.map((rollout) => ({
        ...rollout,
        reward: { ...rollout.reward, components: rollout.reward.components.map((part) => ({ ...part, value: 1 })) },
      })),
    }),
  },
]

export const forgedRewards = groupAttack({
  name: 'forged-rewards',
  about: 'claims better rewards than the replay gives, for all rollouts or for one',
  provable: true,
  places: ['3'],
  codes: ['reward_mismatch'],
  make: async (arena, work, i, signal) => ({
    rollouts: await scriptedGroup(arena, work, signal),
    forgery: FORGED_REWARDS[i % FORGED_REWARDS.length]!,
  }),
})
