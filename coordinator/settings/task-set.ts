import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Task } from '../../rollout/episode/index.js'
import { loadEnvironments } from '../../servers/catalogue.js'
import type { Environment } from '../../servers/kernel/index.js'
import { DatasetError, openDataset, type Split } from '../../tasks/dataset/index.js'
import { ConfigError } from './config.js'

/** The tasks of a run or an evaluation, from one split of a data set. */
export interface TaskSet {
  readonly tasks: readonly Task[]
  /** Environments of the data set, which contain every tool of its tasks. */
  readonly environments: readonly Environment[]
  /** SHA-256 (hex) of the data set's manifest, which names the hash of every file. */
  readonly datasetSha256: string
}

/**
 * Reads the tasks of a split, in the order of the data set.
 * @param limit  largest number of tasks
 * @throws ConfigError that describes the fault of the data set
 */
export async function readTaskSet(folder: string, split: Split, limit = Number.POSITIVE_INFINITY): Promise<TaskSet> {
  try {
    const catalogue = await loadEnvironments()
    const { manifest, examples } = await openDataset(folder, catalogue, { splits: [split] })
    const tasks: Task[] = []
    for await (const { task } of examples(split)) {
      if (tasks.length >= limit) break
      tasks.push(task)
    }
    if (tasks.length === 0) throw new ConfigError(`${folder}: the split ${split} is empty`)
    return {
      tasks,
      environments: manifest.environments.map((name) => catalogue.get(name)!),
      datasetSha256: createHash('sha256')
        .update(await readFile(join(folder, 'manifest.json')))
        .digest('hex'),
    }
  } catch (cause) {
    if (cause instanceof DatasetError) throw new ConfigError(`${folder}: ${cause.message}`, { cause })
    throw cause
  }
}
