import type { Listener, Task } from '../../../rollout/episode/index.js'
import type { RewardPreset } from '../../../rollout/reward/index.js'
import { type RowChange, rowChanges } from '../../kernel/index.js'
import type { TaskRuntime } from '../episode-runtime.js'
import { type Action, type Episode, type Outcome, openEpisode, type Scored } from '../play.js'

/** One action of a person at play, and all that came of it. */
export interface Step {
  readonly action: Action
  readonly outcome: Outcome
  /** Rows of the worlds that it made, changed or took away. */
  readonly changes: readonly RowChange[]
  /** What the episode is worth with it. */
  readonly scored: Scored
}

/** One way in which a task is played. */
export interface Branch {
  /** `A`, then `B`, … */
  readonly name: string
  /** Where it left another one; null: it began with the task. */
  readonly from: { readonly branch: string; readonly steps: number } | null
  readonly episode: Episode
  readonly steps: readonly Step[]
}

/** Two branches beside each other. */
export interface Comparison {
  /** Steps that they have in common. */
  readonly shared: number
  /** Each part of the reward in both, the total first. */
  readonly rewards: readonly {
    readonly name: string
    readonly one: number | null
    readonly other: number | null
  }[]
  /** Rows of the worlds that are not alike in them: `before` is the first branch's, `after` the second's. */
  readonly changes: readonly RowChange[]
}

/** A task on the table: opened once, and played in as many ways as somebody likes. */
export interface PlayedTask {
  readonly task: Task
  readonly branches: readonly Branch[]
  branch(name: string): Branch | undefined
  /** @throws EnvironmentError `episode_over`; EnvironmentDefect when the world itself is broken; RangeError without such a branch */
  act(name: string, action: Action): Promise<Step>
  /** @throws RangeError without such a branch, or when all letters are used */
  fork(name: string): Branch
  /** @throws RangeError without such branches */
  compare(one: string, other: string): Comparison
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** @throws EpisodeError `bad_task` */
export async function openPlayedTask(
  task: Task,
  runtime: TaskRuntime,
  reward: RewardPreset,
  listener?: Listener,
): Promise<PlayedTask> {
  interface Played extends Branch {
    readonly steps: Step[]
  }
  const episode = await openEpisode(task, { runtime, reward, ...(listener ? { listener } : {}) })
  const branches: Played[] = [{ name: LETTERS[0]!, from: null, episode, steps: [] }]
  const named = (name: string): Played => {
    const found = branches.find((branch) => branch.name === name)
    if (!found) throw new RangeError(`there is no branch ${name}`)
    return found
  }
  return {
    task,
    branches,
    branch: (name) => branches.find((branch) => branch.name === name),
    async act(name, action) {
      const { episode, steps } = named(name)
      const before = episode.fork()
      const outcome = await episode.act(action)
      const step = { action, outcome, changes: changesBetween(before, episode), scored: episode.score() }
      steps.push(step)
      return step
    },
    fork(name) {
      const { episode, steps } = named(name)
      const letter = LETTERS[branches.length]
      if (letter === undefined) throw new RangeError(`a task is played in ${LETTERS.length} ways at most`)
      const forked = {
        name: letter,
        from: { branch: name, steps: steps.length },
        episode: episode.fork(),
        steps: [...steps],
      }
      branches.push(forked)
      return forked
    },
    compare(one, other) {
      const [a, b] = [named(one), named(other)]
      const differs = a.steps.findIndex((step, i) => b.steps[i] !== step)
      const [left, right] = [a.episode.score(), b.episode.score()]
      const [ours, theirs] = [partsOf(left), partsOf(right)]
      const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])]
      return {
        shared: differs < 0 ? a.steps.length : differs,
        rewards: [
          { name: 'total', one: left.total, other: right.total },
          ...names.map((name) => ({ name, one: ours[name] ?? null, other: theirs[name] ?? null })),
        ],
        changes: changesBetween(a.episode, b.episode),
      }
    },
  }
}

/** The parts of a reward by name; none where a task has none. */
export const partsOf = ({ components }: Pick<Scored, 'components'>): Readonly<Record<string, number | null>> => ({
  ...components,
})

const changesBetween = (before: Episode, after: Episode): RowChange[] =>
  [...after.sessions].flatMap(([environment, session]) => rowChanges(before.sessions.get(environment)!, session))
