import type { TaskBody } from '../../../rollout/episode/index.js'
import { factsToState, type Json } from '../../../rollout/reward/index.js'
import { dependencyGraph } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import type { Script } from './conversation-script.js'
import type { StatedStep } from './step.js'
import type { Worded } from './word-conversation.js'

/**
 * Returns the facts that the user wants to hear. They are the facts that the assistant states from look-ups that the user asked for.
 * Look-ups that were only made on the way do not count.
 */
export function toTell(
  steps: readonly StatedStep[],
  { silent }: Script,
  { exchanges }: Worded,
): Pick<TaskBody, 'facts'> {
  const isAsked = (step: number | null): step is number =>
    step !== null && itemAt(steps, step).tool.annotations.readOnly === true && !silent.has(step)
  const facts = factsToState(
    exchanges.map(({ user, calls, assistant }) => ({
      user,
      results: calls.flatMap(({ truth, response }) => (isAsked(truth) ? [JSON.parse(response) as Json] : [])),
      answer: assistant,
    })),
  )
  return facts.length === 0 ? {} : { facts }
}

/**
 * Returns the ground truth with its edges. For every tool with an edge to a call, the nearest earlier call of that tool has an edge to it
 * (reward specification, section 1). The calls whose results a call takes over have an edge to it too.
 */
export function groundTruthOf(steps: readonly StatedStep[], { turnOf }: Worded): TaskBody['groundTruth'] {
  return steps.map(({ environment, tool, args, bindings }, i) => {
    const names = dependencyGraph(environment).prerequisites(tool.name)
    const nearest = new Map(
      steps.slice(0, i).map((step, j) => [step.environment === environment ? step.tool.name : '', j]),
    )
    const after = new Set([...nearest].filter(([name]) => names.has(name)).map(([, j]) => j))
    for (const { source } of bindings) after.add(source)
    return { name: tool.name, arguments: args, after: [...after].sort((a, b) => a - b), turn: itemAt(turnOf, i) }
  })
}
