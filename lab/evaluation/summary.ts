import { packageVersion } from '../../common/cli/index.js'
import { type EpisodeLimits, estimate, type Played } from '../../rollout/episode/index.js'
import { type ChosenTask, type EvaluatedDataset, GROUPINGS, type Grouping } from './choose-tasks.js'
import { type ByTask, measuresOf } from './measures.js'

/** Mean over tasks with its standard error, which is null for a single task. */
export interface TaskMean {
  readonly mean: number
  readonly stderr: number | null
}

/** Measures by name, see docs/use-a-model/evaluate.md. */
export type Measures = Readonly<Record<string, TaskMean>>

/** Measures of the two kinds of sampling. */
export interface BySampling {
  /** At temperature 0, one rollout per task. */
  readonly greedy?: Measures
  /** At the temperature of the evaluation, several rollouts per task. */
  readonly sampled?: Measures
}

/** Measures of a policy on a group of tasks. */
export interface Measured extends BySampling {
  /** Number of tasks. */
  readonly n: number
  readonly callsReference: number
  /** Differences from the first policy, paired by task; absent for the first policy. */
  readonly difference?: BySampling
}

export interface MeasuredGroup extends Measured {
  readonly by: Grouping
  readonly value: string
}

/** Facts about a policy. */
export interface PolicyFacts {
  readonly label: string
  readonly kind: 'base' | 'adapter' | 'merged' | 'endpoint'
  /** SHA-256 (hex) of the model file or of the adapter. */
  readonly sha256?: string
  /** SHA-256 (hex) of the adapter's base model. */
  readonly baseSha256?: string
  /** Name of the server's model. */
  readonly model?: string
  /** Backend of the engine with its build. The same seeds sample other tokens on another backend. */
  readonly backend?: string
}

export interface MeasuredPolicy extends PolicyFacts {
  readonly overall: Measured
  readonly groups: readonly MeasuredGroup[]
}

/** Settings of the sampling. */
export interface SamplingPlan {
  readonly greedy: boolean
  /** Rollouts per task at `temperature`; 0: none. */
  readonly samples: number
  readonly temperature: number
  readonly seed: number
}

/** Decisions of the user simulator, over all policies. */
export interface UnderstoodCounts {
  readonly by: string
  /** Number of messages with a due question. */
  readonly messages: number
  /** Number of messages that ask for the missing value. */
  readonly asked: number
  /** Number of messages that the embedded rules decided. */
  readonly byRules: number
}

/** Circumstances of an evaluation. */
export interface EvaluationFacts {
  readonly dataset: EvaluatedDataset
  /** Number of tasks that were omitted, because their prompts leave no capacity for an answer. */
  readonly tooLong: number
  readonly sampling: SamplingPlan
  readonly toolCallFormat: string
  readonly limits: EpisodeLimits
  readonly understood?: UnderstoodCounts
}

/** Result of an evaluation: the content of `summary.json`. */
export interface Summary extends EvaluationFacts {
  readonly schema: 1
  /** Version of the program. */
  readonly program: string
  readonly tasks: number
  readonly policies: readonly MeasuredPolicy[]
}

/** Rollouts of a policy, in the order of `attemptsOf`: greedy ones first. */
export interface PolicyRollouts {
  readonly facts: PolicyFacts
  readonly played: readonly Played[]
}

/** Summarises the rollouts of all policies. */
export function summarise(
  tasks: readonly ChosenTask[],
  policies: readonly PolicyRollouts[],
  facts: EvaluationFacts,
): Summary {
  const vectors = policies.map(({ played }) => vectorsOf(played, tasks.length, facts.sampling))
  const groups = groupsIn(tasks)
  const measured = (own: Vectors, at: readonly number[], isFirst: boolean): Measured => ({
    n: at.length,
    callsReference: at.reduce((sum, i) => sum + tasks[i]!.task.groundTruth.length, 0) / at.length,
    ...bySampling((kind) => own[kind] && estimates(own[kind], at)),
    ...(isFirst
      ? {}
      : { difference: bySampling((kind) => own[kind] && estimates(differences(own[kind], vectors[0]![kind]!), at)) }),
  })
  return {
    schema: 1,
    program: packageVersion(),
    tasks: tasks.length,
    ...facts,
    policies: policies.map(({ facts: policy }, i) => ({
      ...policy,
      overall: measured(vectors[i]!, [...tasks.keys()], i === 0),
      groups: groups.map(({ by, value, at }) => ({ by, value, ...measured(vectors[i]!, at, i === 0) })),
    })),
  }
}

type Kind = keyof BySampling
type Vectors = Readonly<Partial<Record<Kind, ByTask>>>

function bySampling(of: (kind: Kind) => Measures | undefined): BySampling {
  const [greedy, sampled] = [of('greedy'), of('sampled')]
  return { ...(greedy ? { greedy } : {}), ...(sampled ? { sampled } : {}) }
}

function vectorsOf(played: readonly Played[], tasks: number, { greedy, samples }: SamplingPlan): Vectors {
  const from = greedy ? tasks : 0
  return {
    ...(greedy ? { greedy: measuresOf(played.slice(0, tasks).map((one) => [one])) } : {}),
    ...(samples > 0
      ? {
          sampled: measuresOf(
            Array.from({ length: tasks }, (_, i) => played.slice(from + i * samples, from + (i + 1) * samples)),
          ),
        }
      : {}),
  }
}

const estimates = (vectors: ByTask, at: readonly number[]): Measures =>
  Object.fromEntries(Object.entries(vectors).map(([name, values]) => [name, meanOf(at.map((i) => values[i]!))]))

/** Returns mean and standard error over tasks. */
export const meanOf = (values: readonly number[]): TaskMean =>
  values.length > 1 ? estimate(values) : { mean: values[0]!, stderr: null }

const differences = (own: ByTask, first: ByTask): ByTask =>
  Object.fromEntries(
    Object.entries(own).map(([name, values]) => [name, values.map((value, i) => value - first[name]![i]!)]),
  )

interface TaskGroup {
  readonly by: Grouping
  readonly value: string
  /** Indices of the tasks. */
  readonly at: number[]
}

function groupsIn(tasks: readonly ChosenTask[]): TaskGroup[] {
  return (Object.keys(GROUPINGS) as Grouping[]).flatMap((by) => {
    const found = new Map<string, number[]>()
    for (const [i, { groups }] of tasks.entries())
      for (const value of groups[by] ?? []) found.set(value, [...(found.get(value) ?? []), i])
    return [...found].sort(([a], [b]) => inOrder(a, b)).map(([value, at]) => ({ by, value, at }))
  })
}

/** Orders numbers by value and words by letters. */
const inOrder = (a: string, b: string): number => Number(a) - Number(b) || (a < b ? -1 : 1)
