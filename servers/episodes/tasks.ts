import { countOf } from '../../common/errors/index.js'
import { type Catalogue, offeredAt, type RoutedTool, type Task, toolsetOf } from '../../rollout/episode/index.js'
import { openDataset, SPLITS, type Split } from '../../tasks/dataset/index.js'
import { type OfferedTool, offeredTool } from '../kernel/index.js'
import { EpisodeServerError } from './errors.js'

/** The tasks that can be opened, in the order of their data set. */
export interface Tasks {
  readonly title: string
  readonly splits: readonly Split[]
  count(split: Split): number
  /** From `start` on, as many as there are up to `stop`. */
  range(split: Split, start: number, stop: number): readonly Task[]
  /** @throws EnvironmentError `unknown_task` */
  at(split: Split, index: number): Task
  /** @throws EnvironmentError `unknown_task` */
  named(id: string): Task
  /** As they are offered when the task begins. */
  toolsOf(task: Task): readonly RoutedTool[]
  /** A tool of one of the tasks' worlds, whole: with the values of its enums. */
  toolNamed(environment: string, tool: string): OfferedTool
}

/**
 * Reads the tasks of a data set into memory.
 * @throws DatasetError when the folder is none, was changed, or was made with other tools
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
          `${split} has ${countOf(of(split).length, 'task')}, and none at ${index}`,
        )
      return task
    },
    named(id) {
      const task = byId.get(id)
      if (!task) throw new EpisodeServerError('unknown_task', `the data set has no task ${id}`)
      return task
    },
    toolsOf: (task) => offeredAt(toolsetOf(task, catalogue), 0),
    toolNamed: (environment, tool) => offeredTool(catalogue.get(environment)!.toolsByName.get(tool)!),
  }
}
