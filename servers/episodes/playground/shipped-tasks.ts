import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageRoot } from '../../../common/cli/index.js'
import { parseTask, type Task } from '../../../rollout/episode/index.js'

/** Reads the tasks that come with this package, some for each environment. @throws EpisodeError if the file was changed */
export async function shippedTasks(): Promise<Task[]> {
  const text = await readFile(join(packageRoot, 'servers', 'episodes', 'playground', 'tasks.jsonl'), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseTask(JSON.parse(line)))
}
