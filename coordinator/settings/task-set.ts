import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Task } from '../../rollout/episode/index.js'
import { loadEnvironments } from '../../servers/catalogue.js'
import type { Environment } from '../../servers/kernel/index.js'
import { DatasetError, openDataset, type Split } from '../../tasks/dataset/index.js'
import { ConfigError } from './config.js'

/** The tasks of a run or an evaluation, from one split of one or several data sets. */
export interface TaskSet {
  readonly tasks: readonly Task[]
  /** Environments of the data sets, which contain every tool of the tasks. */
  readonly environments: readonly Environment[]
  /**
   * SHA-256 (hex) of the data set's manifest, which names the hash of every file. For several data sets it is the SHA-256 of these hashes,
   * in order, one per line.
   */
  readonly datasetSha256: string
}

/**
 * Reads the tasks of a split, in the order of the data sets.
 * @param limit  largest number of tasks. Each data set gives an equal part
 * @throws ConfigError that describes the fault of a data set
 */
export async function readTaskSet(
  folders: readonly string[],
  split: Split,
  limit = Number.POSITIVE_INFINITY,
): Promise<TaskSet> {
  const sets: TaskSet[] = []
  for (const folder of folders) sets.push(await readOne(folder, split, Math.ceil(limit / folders.length)))
  const [first, ...others] = sets
  if (others.length === 0) return first!
  const hashes = sets.map(({ datasetSha256 }) => `${datasetSha256}\n`)
  return {
    tasks: sets.flatMap(({ tasks }) => tasks).slice(0, limit),
    environments: [...new Set(sets.flatMap(({ environments }) => environments))],
    datasetSha256: createHash('sha256').update(hashes.join('')).digest('hex'),
  }
}

async function readOne(folder: string, split: Split, limit: number): Promise<TaskSet> {
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
