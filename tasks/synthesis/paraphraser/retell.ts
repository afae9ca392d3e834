import { EpisodeError, nameTask, parseTask, type TaskBody } from '../../../rollout/episode/index.js'
import { type JsonObject, readText, statesValue } from '../../../rollout/reward/index.js'
import type { Example } from '../../dataset/example.js'
import { itemAt } from '../item-at.js'
import { argumentsAreTraceable } from '../making/conversation-checks.js'
import { denotes } from '../wording/value-meaning.js'
import type { TurnWords } from './check.js'
import type { Problem } from './errors.js'

/**
 * Returns the example with other words. Ground truth, calls, results and origins stay. The task has a new id, because the user's turns
 * are part of the id. Facts that the new answers omit are no longer required.
 * @returns a problem if an argument can no longer be traced to the conversation
 */
export function retell(example: Example, words: readonly TurnWords[], today: string): Example | Problem {
  const { id: _, facts = [], ...body } = example.task
  const exchanges = example.exchanges.map((exchange, i) => ({
    ...exchange,
    user: itemAt(words, i).user,
    assistant: itemAt(words, i).assistant,
  }))
  const turns = exchanges.map(({ user }) => user)
  try {
    const understood = exchanges.map(({ assistant }) => readText(assistant))
    const stated = facts.filter(({ turn, value }) => statesValue(itemAt(understood, turn), value))
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

/** Returns the results of the ground-truth calls for the provenance filter. */
function stepsOf({ task, exchanges }: Example): { output: JsonObject }[] {
  const calls = exchanges.flatMap((exchange) => exchange.calls)
  return task.groundTruth.map((_, i) => {
    const call = calls.find(({ truth }) => truth === i)
    return { output: call ? (JSON.parse(call.response) as JsonObject) : {} }
  })
}
