import type { Task } from '../../episode/task.js'
import type { ServerDefinition } from '../../servers/kernel/index.js'
import { readTaskSet } from '../task-set.js'

/** The tasks that calibration groups play: training tasks, as volunteers get them. */
export async function calibrationTasks(
  dataset: string,
  count: number,
): Promise<{ readonly tasks: readonly Task[]; readonly servers: readonly ServerDefinition[] }> {
  return readTaskSet(dataset, 'train', count)
}
