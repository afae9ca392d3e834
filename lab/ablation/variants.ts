import { PAPER, PAPER_SETTINGS, paperReward, REWARD_PRESETS, type RewardPreset } from '../../rollout/reward/index.js'

/** Reward variant for training. */
export interface Variant {
  readonly reward: RewardPreset
  /**
   * Result of the paper: differences from the full reward on BFCL multi-turn, tau2 and T-Eval in points. The paper has one run each, for
   * Qwen3-4B after 350 steps (arXiv 2606.03892, section 5). null: not in the paper.
   */
  readonly inPaper: readonly [bfcl: number, tau2: number, tEval: number] | null
}

/** Name of the full reward, the reference of all comparisons. */
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
    reward: paperReward('flat-budget', "the paper's reward without free calls beyond those that the task needs", {
      ...PAPER_SETTINGS,
      slack: 0,
    }),
    inPaper: [-6.6, -3.1, 0.4],
  },
  // The other presets of runs are compared too.
  ...[...REWARD_PRESETS.values()].filter(({ name }) => name !== WHOLE).map((reward) => ({ reward, inPaper: null })),
]

/** Variants by name, in the order of the paper's table. The paper's ablations are not presets, so a run cannot use them. */
export const VARIANTS: ReadonlyMap<string, Variant> = new Map(ALL.map((variant) => [variant.reward.name, variant]))
