import type { AssistantMessage } from '../../../rollout/episode/index.js'
import type { Branch, PlayedTask } from './played-task.js'

/** A task in play as data, from which it can be played again: a reload of the page keeps it. */
export interface KeptPlay {
  readonly task: string
  /** Name of the branch that is shown. */
  readonly shown: string
  readonly branches: readonly { readonly from: Branch['from']; readonly messages: readonly AssistantMessage[] }[]
}

export const keptPlayOf = ({ task, branches }: PlayedTask, shown: string): KeptPlay => ({
  task: task.id,
  shown,
  branches: branches.map(({ from, steps }) => ({ from, messages: steps.map(({ message }) => message) })),
})

/**
 * Plays a kept play again, each branch up to the step where it was forked and then to its end.
 * @param open  opens a task by its id
 */
export async function playAgain(kept: KeptPlay, open: (task: string) => Promise<PlayedTask>): Promise<PlayedTask> {
  const played = await open(kept.task)
  const advance = async (name: string, upTo = Number.POSITIVE_INFINITY): Promise<void> => {
    const at = played.branches.findIndex((branch) => branch.name === name)
    const done = played.branches[at]!.steps.length
    for (const message of kept.branches[at]!.messages.slice(done, upTo)) await played.act(name, message)
  }
  for (const { from } of kept.branches) {
    if (from === null) continue
    await advance(from.branch, from.steps)
    played.fork(from.branch)
  }
  for (const { name } of played.branches) await advance(name)
  return played
}
