import type { SpokenEnvironment } from '../../servers/kernel/index.js'
import { seededRandom } from '../../servers/kernel/index.js'
import type { Node } from '../../servers/kernel/tool-graph.js'
import type { TaskPlan } from '../../tasks/synthesis/making/plan.js'
import type { Assignment, Setting, SynthesisContext } from '../../tasks/synthesis/making/synthesis-context.js'

/** A plan for two calls in two requests. */
export const PLAN: TaskPlan = {
  kind: 'multi-turn',
  split: 'train',
  calls: 2,
  requests: 2,
  information: 'complete',
  recovery: null,
  crossing: false,
}

/** One attempt at an example of a plan. */
export function settingFor(
  context: SynthesisContext,
  target: Node<SpokenEnvironment>,
  {
    plan = {},
    index = 0,
    environmentSeed = 4,
  }: { plan?: Partial<TaskPlan>; index?: number; environmentSeed?: number } = {},
): Setting {
  const assignment: Assignment = { ...PLAN, ...plan, index, target, round: 0 }
  return { assignment, environmentSeed, context, random: seededRandom(index), tried: new Set(), spent: new Set() }
}
