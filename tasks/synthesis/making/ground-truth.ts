import type { TaskBody } from '../../../rollout/episode/index.js'
import { factsToState, type Json } from '../../../rollout/reward/index.js'
import { dependencyGraph } from '../../../servers/kernel/index.js'
import type { Script } from './conversation-script.js'
import type { StatedStep } from './state-references.js'
import type { Worded } from './word-conversation.js'

/** What the user wants to hear: of the look-ups that were asked for, and not only made on the way, what the assistant tells. */
export function toTell(
  steps: readonly StatedStep[],
  { silent }: Script,
  { exchanges }: Worded,
): Pick<TaskBody, 'facts'> {
  const isAsked = (step: number | null): step is number =>
    step !== null && steps[step]!.tool.annotations.readOnly === true && !silent.has(step)
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
 * The ground truth with its edges: for every tool with an edge to a call, the nearest earlier call of that tool (reward
 * specification, section 1), and the calls whose results it takes over.
 */
export function groundTruthOf(steps: readonly StatedStep[], { turnOf }: Worded): TaskBody['groundTruth'] {
  return steps.map(({ environment, tool, args, bindings }, i) => {
    const names = dependencyGraph(environment).prerequisites(tool.name)
    const nearest = new Map(
      steps.slice(0, i).map((step, j) => [step.environment === environment ? step.tool.name : '', j]),
    )
    const after = new Set([...nearest].filter(([name]) => names.has(name)).map(([, j]) => j))
    for (const { source } of bindings) after.add(source)
    return { name: tool.name, arguments: args, after: [...after].sort((a, b) => a - b), turn: turnOf[i]! }
  })
}
