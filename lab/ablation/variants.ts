import { PAPER, PAPER_SETTINGS, paperReward, REWARD_PRESETS, type RewardPreset } from '../../rollout/reward/index.js'

/** A reward that a policy is trained by, to see what it is worth. */
export interface Variant {
  readonly reward: RewardPreset
  /**
   * What the paper found for it: points by which BFCL multi-turn, tau2 and T-Eval differ from its whole reward, Qwen3-4B, 350 steps, one
   * run each (arXiv 2606.03892, section 5). null: the paper does not have it.
   */
  readonly inPaper: readonly [bfcl: number, tau2: number, tEval: number] | null
}

/** What every other variant is compared with. */
export const WHOLE = 'paper'

const { weights } = PAPER_SETTINGS
const without = (component: keyof typeof weights, inPaper: Variant['inPaper']): Variant => ({
  reward: paperReward(`no-${component}`, `the paper's reward without ${component}`, {
    ...PAPER_SETTINGS,
    weights: { ...weights, [component]: 0 },
  }),
  inPaper,
})

const ALL: readonly Variant[] = [
  { reward: PAPER, inPaper: [0, 0, 0] },
  without('validity', [-5.2, 2.1, -3.4]),
  without('coverage', [-2.4, 0.4, -1.5]),
  without('efficiency', [-4, -0.1, -1.6]),
  without('name', [-6, -0.8, -2.4]),
  without('arg', [1.6, -4.2, -0.6]),
  {
    reward: paperReward('flat-budget', "the paper's reward with no more calls free than the task needs", {
      ...PAPER_SETTINGS,
      slack: 0,
    }),
    inPaper: [-6.6, -3.1, 0.4],
  },
  // Those that runs can name are compared with it too.
  ...[...REWARD_PRESETS.values()].filter(({ name }) => name !== WHOLE).map((reward) => ({ reward, inPaper: null })),
]

/** By name, in the order of the paper's table. None of the paper's ablations is a preset that a run can name. */
export const VARIANTS: ReadonlyMap<string, Variant> = new Map(ALL.map((variant) => [variant.reward.name, variant]))
