import { createHash } from 'node:crypto'
import type { Tokenizer } from '../../rollout/engine/index.js'
import type { Task } from '../../rollout/episode/index.js'
import { groundTruthScript, lendingTask, scriptTokenizer } from '../support/scripted.js'

/**
 * What stands in for the model in a simulation: a function of adapter, task and sampler seed. Like a model's, its answers
 * cannot be known without the adapter and the lease; unlike a model's, they cost nothing.
 */

export const TASKS: readonly Task[] = ['Ada', 'my neighbour Ada', 'our reader Ada', 'young Ada'].flatMap((reader) =>
  ['Please lend emma to', 'Could you hand emma to', 'Emma is for'].map((wish) =>
    lendingTask({ turns: [`${wish} ${reader}.`, 'Now take that loan back.'] }),
  ),
)

export const tokenizer: Tokenizer = scriptTokenizer()

/** The task that a prompt is about. @throws RangeError */
export function taskOfPrompt(prompt: readonly number[]): Task {
  const text = tokenizer.detokenize(prompt)
  const task = TASKS.find(({ turns }) => text.includes(turns[0]!))
  if (!task) throw new RangeError('the prompt is about none of the tasks')
  return task
}

/** What the policy says in one rollout. Mostly the first rollout of a group does the task and the others refuse to. */
export function scriptOf(adapterSha256: string | null, task: Task, slot: number, seed: number): string[] {
  const usual = seed % 8 !== 0
  const helpful = (slot === 0) === usual
  const script = helpful ? groundTruthScript(task) : task.turns.map(() => 'No.')
  // Long answers make a body that is too large to be gossiped.
  const more = task.turns[0]!.includes('young') ? ' I could say a great deal about that.'.repeat(46) : ''
  // Answers under other adapters or seeds are others, as a model's would be.
  return script.map((message, i) =>
    i === script.length - 1 ? `${message} (${adapterSha256?.slice(0, 6) ?? 'base'} ${seed})${more}` : message,
  )
}

/** Log-probabilities of `tokens[from ..]`: of no meaning, but those of another adapter are others. */
export function scoresOf(adapterSha256: string | null, tokens: readonly number[], from: number): number[] {
  const digest = createHash('sha256')
    .update(`${adapterSha256} ${tokens.join(' ')}`)
    .digest()
  // Multiples of 1/32 are exact in float32, as which they travel.
  return tokens.slice(from).map((_, i) => -digest[i % digest.length]! / 32)
}
