import { z } from 'zod'
import { exampleOf, parseTask, type Task, toolsetOf } from '../../rollout/episode/index.js'
import { type JsonObject, type LoggedCall, type RewardPreset, solvedExactly } from '../../rollout/reward/index.js'
import { callArguments, parseAs, recordedActionSchema } from './action.js'
import type { TaskRuntime } from './episode-runtime.js'
import { EpisodeServerError } from './errors.js'
import { openEpisode, type Scored } from './play.js'

/**
 * Schema of a rollout to score: its task or the task's id, and either `actions`, which are replayed, or `calls` with their outcomes,
 * which are not checked.
 */
const line = z.union(
  [
    z.object({ task: z.unknown(), actions: z.array(recordedActionSchema).max(256) }),
    z.object({
      task: z.unknown(),
      calls: z
        .array(
          z.union([
            z.object({ name: z.string(), arguments: callArguments.default({}), ok: z.boolean() }),
            z.object({ unreadable: z.string() }),
          ]),
        )
        .max(256),
    }),
  ],
  { error: 'a rollout has a task and either actions or calls: {"task", "actions": [{"name", "arguments"}, …]}' },
)

export interface ScoreParts {
  readonly runtime: TaskRuntime
  readonly reward: RewardPreset
  /** Returns the task with an id. */
  readonly named: (id: string) => Task
}

export interface ScoredRollout extends Omit<Scored, 'stateHashes'> {
  readonly task: string
  /** Present only for replayed rollouts. */
  readonly stateHashes?: Scored['stateHashes']
  /** Result of each call; present only for replayed rollouts. */
  readonly results?: readonly { readonly ok: boolean; readonly text: string }[]
}

/**
 * Scores a rollout of another trainer exactly as training in this project does.
 * @param value  `{task, actions}` or `{task, calls}`
 * @throws EpisodeServerError `bad_request`, `unknown_task`, `episode_over`; EpisodeError `bad_task`
 */
export async function scoreRollout(value: unknown, { runtime, reward, named }: ScoreParts): Promise<ScoredRollout> {
  const rollout = parseAs(line, value)
  const task = typeof rollout.task === 'string' ? named(rollout.task) : parseTask(rollout.task)
  if ('actions' in rollout) {
    const episode = await openEpisode(task, { runtime, reward })
    const results: { ok: boolean; text: string }[] = []
    for (const action of rollout.actions) {
      const outcome = await episode.act(action)
      if (outcome.type === 'result') results.push({ ok: outcome.ok, text: outcome.text })
    }
    return { task: task.id, ...episode.score(), results }
  }
  if (reward.needsFacts)
    throw new EpisodeServerError(
      'bad_request',
      `the reward ${reward.name} needs final states and messages: give "actions" instead of "calls"`,
    )
  const calls = rollout.calls.map(
    (call): LoggedCall =>
      'unreadable' in call
        ? { malformed: true, raw: call.unreadable }
        : { name: call.name, arguments: call.arguments as JsonObject, ok: call.ok },
  )
  return {
    task: task.id,
    preset: reward.name,
    ...reward.score(exampleOf(task, toolsetOf(task, runtime.catalogue)), calls),
    solved: solvedExactly(task.groundTruth, calls),
  }
}
