import { basename } from 'node:path'
import { ConfigError } from '../../coordinator/settings/config.js'
import type { Task } from '../../rollout/episode/index.js'
import { loadEnvironments } from '../../servers/catalogue.js'
import type { Environment } from '../../servers/kernel/index.js'
import { DatasetError, type Example, openDataset, type Split } from '../../tasks/dataset/index.js'
import { recordsPath } from '../../tasks/dataset/manifest.js'
import { ownEnvironments } from '../../tasks/dataset/statistics.js'
import { EvaluationError } from './errors.js'

/** Properties by which an evaluation groups tasks, with their headings. */
export const GROUPINGS = {
  environment: 'environment',
  kind: 'kind of task',
  calls: 'calls of the reference solution',
  turns: 'user turns',
  information: 'information that the user states at first (multi-turn tasks)',
  recovery: 'failed call in the reference solution (multi-turn tasks)',
} as const
export type Grouping = keyof typeof GROUPINGS

/** A task with its groups. A task of several environments belongs to several groups. */
export interface ChosenTask {
  readonly task: Task
  readonly groups: Readonly<Partial<Record<Grouping, readonly string[]>>>
}

export interface ChosenTasks {
  readonly tasks: readonly ChosenTask[]
  /** Environments of the data set. */
  readonly environments: readonly Environment[]
  readonly dataset: EvaluatedDataset
}

/** The data set of an evaluation. */
export interface EvaluatedDataset {
  readonly name: string
  readonly split: Split
  /** SHA-256 (hex) of the split's JSON lines. */
  readonly sha256: string
}

export interface TaskChoice {
  readonly split: Split
  /** Names of environments: only tasks whose chain uses no other one. Undefined: all tasks. */
  readonly environments?: readonly string[] | undefined
  /** Largest number of tasks. */
  readonly limit: number
}

/**
 * Chooses tasks of a data set, spread evenly over the environments. Each environment gives its first tasks. The same data set and choice give
 * the same tasks, in the order of the data set.
 * @throws ConfigError that describes the fault of the data set; EvaluationError `no_tasks`
 */
export async function chooseTasks(
  folder: string,
  { split, environments, limit }: TaskChoice,
  signal: AbortSignal,
): Promise<ChosenTasks> {
  try {
    const catalogue = await loadEnvironments()
    const { manifest, examples } = await openDataset(folder, catalogue, { splits: [split], signal })
    const found: Example[] = []
    for await (const example of examples(split)) {
      const own = [...ownEnvironments(example.task)]
      if (!environments || own.every((name) => environments.includes(name))) found.push(example)
    }
    if (found.length === 0)
      throw new EvaluationError(
        'no_tasks',
        `${folder}: the split ${split} has no task${environments ? ` of ${environments.join(', ')} alone: name others of ${manifest.environments.join(', ')}` : ': choose another with --split'}`,
      )
    return {
      tasks: spread(found, limit).map((example) => ({ task: example.task, groups: groupsOf(example) })),
      environments: manifest.environments.map((name) => catalogue.get(name)!),
      dataset: {
        name: basename(folder),
        split,
        sha256: manifest.files.find(({ path }) => path === recordsPath(split))!.sha256,
      },
    }
  } catch (cause) {
    if (cause instanceof DatasetError) throw new ConfigError(`${folder}: ${cause.message}`, { cause })
    throw cause
  }
}

/** Takes one task of each environment in turn, until there are enough. */
function spread(examples: readonly Example[], limit: number): Example[] {
  const byEnvironment = new Map<string, Example[]>()
  for (const example of examples) {
    const [first] = ownEnvironments(example.task)
    byEnvironment.set(first!, [...(byEnvironment.get(first!) ?? []), example])
  }
  const queues = [...byEnvironment].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, own]) => own)
  const chosen: Example[] = []
  for (let round = 0; chosen.length < Math.min(limit, examples.length); round++)
    for (const queue of queues) {
      const next = queue[round]
      if (next && chosen.length < limit) chosen.push(next)
    }
  return chosen.sort((a, b) => a.index - b.index)
}

const groupsOf = ({ task, information, recovery }: Example): ChosenTask['groups'] => ({
  environment: [...ownEnvironments(task)],
  kind: [task.kind],
  calls: [`${task.groundTruth.length}`],
  turns: [`${task.turns.length}`],
  ...(task.kind === 'multi-turn' ? { information: [information], recovery: [recovery ?? 'none'] } : {}),
})
