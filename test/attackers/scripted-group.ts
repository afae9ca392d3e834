import { createReferenceSource, groundTruthScript, type Rollout, runEpisode } from '../../rollout/episode/index.js'
import type { Arena } from './arena.js'
import { GROUP_SIZE, LIMITS_OF_RUN } from './arena-run.js'
import type { Work } from './group-work.js'

/** Nats that are claimed for each token that nobody has sampled: what a sure model would say. */
const CLAIM = -0.01

/**
 * A group without inference: the first half of its rollouts follows the task's ground truth, the others shrug. It replays,
 * and its rewards differ.
 */
export function scriptedGroup({ runtime }: Arena, { task }: Work, signal: AbortSignal): Promise<Rollout[]> {
  const good = groundTruthScript(task, runtime.toolCallFormat)
  const lazy = task.turns.map((_, turn) => `I cannot help with that${'.'.repeat(turn + 1)}`)
  return Promise.all(
    Array.from({ length: GROUP_SIZE }, async (_, i) => {
      const source = createReferenceSource(i < GROUP_SIZE / 2 ? good : lazy, runtime)
      const rollout = await runEpisode(task, source, runtime, LIMITS_OF_RUN, signal)
      return { ...rollout, logprobs: rollout.logprobs.map(() => CLAIM) }
    }),
  )
}
