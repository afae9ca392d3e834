import { z } from 'zod'
import { exampleOf, parseTask, type Task, toolsetOf } from '../../rollout/episode/index.js'
import { type LoggedCall, type RewardPreset, solvedExactly } from '../../rollout/reward/index.js'
import type { ToolResponse } from '../kernel/index.js'
import type { TaskRuntime } from './episode-runtime.js'
import { EpisodeServerError } from './errors.js'
import { callSchema, parseAs, readCall, recordedMessages } from './message.js'
import { openEpisode, type Scored } from './play.js'

/** Schema of a call with its outcome, or of an unreadable call. */
const madeCall = z.union([
  z
    .strictObject({ name: z.unknown(), arguments: z.unknown().optional(), ok: z.boolean() })
    .transform(({ name, arguments: args, ok }): LoggedCall => {
      const call = readCall(name, args)
      return call.malformed ? call : { ...call, ok }
    }),
  callSchema.transform((call, context): LoggedCall => {
    if (call.malformed) return call
    context.addIssue({ code: 'custom', message: 'a call has "ok", whether it succeeded' })
    return z.NEVER
  }),
])

/**
 * Schema of a rollout to score: its task or the task's id, and either `actions`, which are replayed, or `calls` with their outcomes,
 * which are not checked.
 */
const line = z.union(
  [
    z.object({ task: z.unknown(), actions: recordedMessages }),
    z.object({ task: z.unknown(), calls: z.array(madeCall).max(256) }),
  ],
  {
    error:
      'a rollout has a task and either actions or calls: {"task", "actions": [{"text", "calls": [{"name", "arguments"}, …]}, …]}',
  },
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
  readonly results?: readonly ToolResponse[]
}

/**
 * Scores a rollout of another trainer exactly as training in this project does.
 * @param value  `{task, actions}` or `{task, calls}`
 * @throws EpisodeServerError `bad_request`, `unknown_task`; EpisodeError `bad_task`, `episode_over`, `not_asking`
 */
export async function scoreRollout(value: unknown, { runtime, reward, named }: ScoreParts): Promise<ScoredRollout> {
  const rollout = parseAs(line, value)
  const task = typeof rollout.task === 'string' ? named(rollout.task) : parseTask(rollout.task)
  if ('actions' in rollout) {
    const episode = await openEpisode(task, { runtime, reward })
    const results: ToolResponse[] = []
    for (const message of rollout.actions) results.push(...(await episode.act(message)).results)
    return { task: task.id, ...episode.score(), results }
  }
  if (reward.needsFacts)
    throw new EpisodeServerError(
      'bad_request',
      `the reward ${reward.name} needs final states and messages: give "actions" instead of "calls"`,
    )
  const { calls } = rollout
  return {
    task: task.id,
    preset: reward.name,
    ...reward.score(exampleOf(task, toolsetOf(task, runtime.catalogue)), calls),
    solved: solvedExactly(task.groundTruth, calls),
  }
}
