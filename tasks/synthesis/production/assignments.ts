import { deriveSeed, seededRandom } from '../../../servers/kernel/index.js'
import { type Kind, type Profile, SPLITS, type Split } from '../../dataset/profile.js'
import { drawPlans, type TaskPlan } from '../making/plan.js'

/** Number of examples of each kind, over all splits. */
export type Composition = Readonly<Record<Kind, number>>

/** The paper's composition of 13,517 examples (section 3.2). */
export const PAPER_COMPOSITION: Composition = { 'multi-turn': 10_895, clarification: 1_500, abstention: 1_122 }

/** Shares of the examples outside the training split. */
export const SPLIT_SHARES: Readonly<Record<Exclude<Split, 'train'>, number>> = { validation: 0.05, 'held-out': 0.05 }

/** Returns the paper's composition scaled to `total` examples, rounded so that the sum is exact. */
export function compositionOf(total: number): Composition {
  const whole = Object.values(PAPER_COMPOSITION).reduce((sum, count) => sum + count, 0)
  const clarification = Math.round((total * PAPER_COMPOSITION.clarification) / whole)
  const abstention = Math.round((total * PAPER_COMPOSITION.abstention) / whole)
  return { 'multi-turn': total - clarification - abstention, clarification, abstention }
}

/**
 * Returns one plan per example, in random order: exact counts of kinds and splits, and within each kind the quotas of the profile. Small splits
 * get plans that they have chains for.
 */
export function plansFor(
  composition: Composition,
  shares: Readonly<Partial<Record<Split, number>>>,
  {
    profile,
    domainRules = 0,
    seed,
  }: { readonly profile: Profile; readonly domainRules?: number; readonly seed: number },
  able: (plan: TaskPlan) => readonly unknown[],
): TaskPlan[] {
  const random = seededRandom(deriveSeed('prove/orders/1', seed))
  const plans: TaskPlan[] = []
  for (const [kind, count] of Object.entries(composition) as [Kind, number][]) {
    const left = drawPlans(kind, count, profile, domainRules, random)
    for (const split of SPLITS.filter((one) => one !== 'train')) {
      for (let size = Math.round(count * (shares[split] ?? 0)); size > 0; size--) {
        const at = left.findIndex((plan) => able({ ...plan, split }).length > 0)
        const [plan] = left.splice(Math.max(0, at), 1)
        if (plan) plans.push({ ...plan, split })
      }
    }
    plans.push(...left)
  }
  return random.shuffle(plans)
}

/** Rounds before an unsuccessful example is given up. */
export const MAX_ROUNDS = 60
/** Consecutive rounds without a new example after which the environments count as exhausted. */
export const IDLE_ROUNDS = 24
