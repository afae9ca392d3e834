import { countOf } from '../../common/errors/index.js'
import { type Catalogue, offeredAt, type RoutedTool, type Task, toolsetOf } from '../../rollout/episode/index.js'
import { openDataset, SPLITS, type Split } from '../../tasks/dataset/index.js'
import { type OfferedTool, offeredTool } from '../kernel/index.js'
import { EpisodeServerError } from './errors.js'

/** Tasks of a data set, in its order. */
export interface Tasks {
  readonly title: string
  readonly splits: readonly Split[]
  count(split: Split): number
  /** Returns the tasks from index `start` to before `stop`. */
  range(split: Split, start: number, stop: number): readonly Task[]
  /** Returns the task at an index of a split. @throws EpisodeServerError `unknown_task` */
  at(split: Split, index: number): Task
  /** Returns the task with an id. @throws EpisodeServerError `unknown_task` */
  named(id: string): Task
  has(id: string): boolean
  /** Returns the tools that a task offers at first. */
  toolsOf(task: Task): readonly RoutedTool[]
  /** Returns a tool of an environment with its complete schema, including enum values. */
  toolNamed(environment: string, tool: string): OfferedTool
}

/**
 * Reads the tasks of a data set into memory.
 * @throws DatasetError if the folder is not a data set, was changed, or was made with other tools
 */
export async function readTasks(folder: string, catalogue: Catalogue, signal: AbortSignal): Promise<Tasks> {
  const dataset = await openDataset(folder, catalogue, { signal })
  const bySplit = new Map<Split, Task[]>()
  for (const split of SPLITS) {
    const tasks: Task[] = []
    for await (const { task } of dataset.examples(split)) tasks.push(task)
    bySplit.set(split, tasks)
  }
  return tasksOf(dataset.manifest.title, bySplit, catalogue)
}

export function tasksOf(title: string, bySplit: ReadonlyMap<Split, readonly Task[]>, catalogue: Catalogue): Tasks {
  const byId = new Map([...bySplit.values()].flat().map((task) => [task.id, task]))
  const of = (split: Split): readonly Task[] => bySplit.get(split) ?? []
  return {
    title,
    splits: SPLITS.filter((split) => of(split).length > 0),
    count: (split) => of(split).length,
    range: (split, start, stop) => of(split).slice(start, stop),
    at(split, index) {
      const task = of(split)[index]
      if (!task)
        throw new EpisodeServerError(
          'unknown_task',
          `${split} has ${countOf(of(split).length, 'task')}, and no task at index ${index}`,
        )
      return task
    },
    named(id) {
      const task = byId.get(id)
      if (!task) throw new EpisodeServerError('unknown_task', `the data set has no task ${id}`)
      return task
    },
    has: (id) => byId.has(id),
    toolsOf: (task) => offeredAt(toolsetOf(task, catalogue), 0),
    toolNamed: (environment, tool) => offeredTool(catalogue.get(environment)!.toolsByName.get(tool)!),
  }
}
