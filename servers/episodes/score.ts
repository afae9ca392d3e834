import { z } from 'zod'
import { exampleOf, parseTask, type Task, toolsetOf } from '../../rollout/episode/index.js'
import { type JsonObject, type LoggedCall, type RewardPreset, solvedExactly } from '../../rollout/reward/index.js'
import { callArguments, parseAs, recordedActionSchema } from './action.js'
import type { TaskRuntime } from './episode-runtime.js'
import { EpisodeServerError } from './errors.js'
import { openEpisode, type Scored } from './play.js'

/**
 * One rollout to be scored: its task, by id or itself, and either what was done in it, which is then played again, or its calls with
 * how they went, which are believed.
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
  { error: 'a rollout has a task, and either actions or calls: {"task", "actions": [{"name", "arguments"}, …]}' },
)

export interface ScoreParts {
  readonly runtime: TaskRuntime
  readonly reward: RewardPreset
  /** Tasks that a line may name by id. */
  readonly named: (id: string) => Task
}

export interface ScoredRollout extends Omit<Scored, 'stateHashes'> {
  readonly task: string
  /** Only of what was played again. */
  readonly stateHashes?: Scored['stateHashes']
  /** What each call was answered with, of what was played again. */
  readonly results?: readonly { readonly ok: boolean; readonly text: string }[]
}

/**
 * Scores a rollout of a foreign trainer exactly as training here does.
 * @param value  `{task, actions}` or `{task, calls}`
 * @throws EnvironmentError `bad_request`, `unknown_task`, `episode_over`; EpisodeError `bad_task`
 */
export async function scoreRollout(value: unknown, { runtime, reward, named }: ScoreParts): Promise<ScoredRollout> {
  const asked = parseAs(line, value)
  const task = typeof asked.task === 'string' ? named(asked.task) : parseTask(asked.task)
  if ('actions' in asked) {
    const episode = await openEpisode(task, { runtime, reward })
    const results: { ok: boolean; text: string }[] = []
    for (const action of asked.actions) {
      const outcome = await episode.act(action)
      if (outcome.type === 'result') results.push({ ok: outcome.ok, text: outcome.text })
    }
    return { task: task.id, ...episode.score(), results }
  }
  if (reward.needsFacts)
    throw new EpisodeServerError(
      'bad_request',
      `the reward ${reward.name} looks at final states and at what is said: give actions, not calls`,
    )
  const calls = asked.calls.map(
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
