import { EpisodeError, nameTask, parseTask, type TaskBody } from '../../../rollout/episode/index.js'
import { type JsonObject, readText, statesValue } from '../../../rollout/reward/index.js'
import type { Example } from '../../dataset/example.js'
import { argumentsAreTraceable } from '../making/filters.js'
import { denotes } from '../wording/denotes.js'
import type { TurnWords } from './check.js'
import type { Problem } from './errors.js'

/**
 * The example with other words. Ground truth, calls, results and origins are those of the example; the task has a new
 * name, since what the user says belongs to it. What the other words leave out need not be told.
 * @returns a problem when an argument could no longer be traced to what was said
 */
export function retell(example: Example, words: readonly TurnWords[], today: string): Example | Problem {
  const { id: _, facts = [], ...body } = example.task
  const exchanges = example.exchanges.map((exchange, i) => ({
    ...exchange,
    user: words[i]!.user,
    assistant: words[i]!.assistant,
  }))
  const turns = exchanges.map(({ user }) => user)
  try {
    const understood = exchanges.map(({ assistant }) => readText(assistant))
    const stated = facts.filter(({ turn, value }) => statesValue(understood[turn]!, value))
    const task = parseTask(
      nameTask({ ...body, turns, ...(stated.length > 0 ? { facts: stated } : {}) } satisfies TaskBody),
    )
    const retold: Example = { ...example, task, exchanges, speech: 'paraphrased' }
    if (argumentsAreTraceable({ example: retold, steps: stepsOf(retold), denotes, today })) return retold
    return { kind: 'untraceable', detail: 'a value that a call needs is no longer said' }
  } catch (error) {
    if (!(error instanceof EpisodeError)) throw error
    return { kind: 'untraceable', detail: `the task cannot have these words: ${error.message.slice(0, 200)}` }
  }
}

/** The results of the ground-truth calls, as the provenance filter wants them. */
function stepsOf({ task, exchanges }: Example): { output: JsonObject }[] {
  const calls = exchanges.flatMap((exchange) => exchange.calls)
  return task.groundTruth.map((_, i) => {
    const call = calls.find(({ truth }) => truth === i)
    return { output: call ? (JSON.parse(call.response) as JsonObject) : {} }
  })
}
