import type { AssistantMessage, MessageInterpreter, Reaction, Task } from '../../../rollout/episode/index.js'
import type { RewardPreset } from '../../../rollout/reward/index.js'
import { type RowChange, rowChanges } from '../../kernel/index.js'
import type { TaskRuntime } from '../episode-runtime.js'
import { type Episode, openEpisode, type Scored } from '../play.js'

/** One message of a player with its consequences. */
export interface Step {
  readonly message: AssistantMessage
  readonly reaction: Reaction
  /** Rows of the environments that the message created, changed or deleted. */
  readonly changes: readonly RowChange[]
  /** Reward of the episode after the message. */
  readonly scored: Scored
}

/** One line of play of a task. */
export interface Branch {
  /** `A`, then `B`, … */
  readonly name: string
  /** Branch and step where this branch was forked; null: the branch begins with the task. */
  readonly from: { readonly branch: string; readonly steps: number } | null
  readonly episode: Episode
  readonly steps: readonly Step[]
}

/** Comparison of two branches. */
export interface Comparison {
  /** Number of common steps. */
  readonly shared: number
  /** Components of the reward in both branches, the total first. */
  readonly rewards: readonly {
    readonly name: string
    readonly one: number | null
    readonly other: number | null
  }[]
  /** Rows that differ: `before` in the first branch, `after` in the second. */
  readonly changes: readonly RowChange[]
}

/** A task in play with its branches. */
export interface PlayedTask {
  readonly task: Task
  readonly branches: readonly Branch[]
  branch(name: string): Branch | undefined
  /**
   * Carries out a message in a branch.
   * @throws EpisodeError `episode_over`; EnvironmentDefect if the environment has a defect; RangeError if the branch does not exist
   */
  act(name: string, message: AssistantMessage): Promise<Step>
  /** Copies a branch. @throws RangeError if the branch does not exist or all 26 names are used */
  fork(name: string): Branch
  /** Compares two branches. @throws RangeError if a branch does not exist */
  compare(one: string, other: string): Comparison
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** Opens a task with one branch named A. @throws EpisodeError `bad_task` */
export async function openPlayedTask(
  task: Task,
  runtime: TaskRuntime,
  reward: RewardPreset,
  simulator?: MessageInterpreter,
): Promise<PlayedTask> {
  interface Played extends Branch {
    readonly steps: Step[]
  }
  const episode = await openEpisode(task, { runtime, reward, ...(simulator ? { simulator } : {}) })
  const branches: Played[] = [{ name: LETTERS[0]!, from: null, episode, steps: [] }]
  const named = (name: string): Played => {
    const found = branches.find((branch) => branch.name === name)
    if (!found)
      throw new RangeError(`no branch ${name}: choose one of ${branches.map((branch) => branch.name).join(', ')}`)
    return found
  }
  return {
    task,
    branches,
    branch: (name) => branches.find((branch) => branch.name === name),
    async act(name, message) {
      const { episode, steps } = named(name)
      const before = episode.fork()
      const reaction = await episode.act(message)
      const step = { message, reaction, changes: changesBetween(before, episode), scored: episode.score() }
      steps.push(step)
      return step
    },
    fork(name) {
      const { episode, steps } = named(name)
      const letter = LETTERS[branches.length]
      if (letter === undefined)
        throw new RangeError(`a task has at most ${LETTERS.length} branches: open the task again`)
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

/** Returns the components of a reward by name. The result is empty if the reward has no components. */
export const partsOf = ({ components }: Pick<Scored, 'components'>): Readonly<Record<string, number | null>> => ({
  ...components,
})

const changesBetween = (before: Episode, after: Episode): RowChange[] =>
  [...after.sessions].flatMap(([environment, session]) => rowChanges(before.sessions.get(environment)!, session))
