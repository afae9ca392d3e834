import { countOf } from '../../common/errors/index.js'
import { areAlike } from '../../rollout/episode/index.js'
import { FAILURE_CLASSES, REWARD_PRESETS } from '../../rollout/reward/index.js'
import { GROUPINGS, type Grouping } from './choose-tasks.js'
import { reportedKs } from './measures.js'
import type { BySampling, Measured, MeasuredPolicy, Summary, TaskMean } from './summary.js'

/** A table of the report, for the terminal or for Markdown. */
export interface ReportTable {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** One column: a measure of one kind of sampling. */
interface Column {
  readonly heading: string
  readonly kind: keyof BySampling
  readonly measure: string
  readonly shown: Shown
}

interface Shown {
  readonly scale: number
  readonly digits: number
}
const SHARE: Shown = { scale: 100, digits: 1 }
const REWARD: Shown = { scale: 1, digits: 3 }
const CALLS: Shown = { scale: 1, digits: 2 }

/** Formats a mean with its standard error: `49.0 ± 5.0`. Equal values show no spread, so they get no error. */
export function cellOf({ mean, stderr }: TaskMean, { scale, digits }: Shown, sign = false): string {
  const value = (scale * mean).toFixed(digits)
  const error = stderr === null || areAlike({ stderr }) ? '' : ` ± ${(scale * stderr).toFixed(digits)}`
  return `${sign && Number(value) > 0 ? '+' : ''}${value}${error}`
}

/** Returns the tables about all tasks. */
export function overallTables(summary: Summary): ReportTable[] {
  const { policies } = summary
  const [first] = policies
  const solving = [...solvingColumns(summary), ...varianceColumns(summary)]
  const rest = [...callColumns(summary), ...rewardColumns(summary)]
  const ofPolicies = (columns: readonly Column[]): string[][] =>
    policies.map(({ label, overall }) => [label, ...columns.map((column) => cell(overall, column))])
  const reference = `calls (reference ${first!.overall.callsReference.toFixed(2)})`
  return [
    { title: 'Solved, %', head: ['policy', ...solving.map(({ heading }) => heading)], rows: ofPolicies(solving) },
    {
      title: `Rewards, and ${reference}`,
      head: ['policy', ...rest.map(({ heading }) => heading)],
      rows: ofPolicies(rest),
    },
    failureTable(summary),
    ...(policies.length > 1 ? [differenceTable(summary, [...solvingColumns(summary), ...rest])] : []),
    ...curveTables(summary),
  ]
}

/** Returns one table per grouping that has several groups, and the one of the environments always. */
export function groupTables(summary: Summary, groupings = Object.keys(GROUPINGS) as Grouping[]): ReportTable[] {
  const { policies } = summary
  const columns = [...solvingColumns(summary), ...callColumns(summary)]
  const several = policies.length > 1
  const differences = several ? solvingColumns(summary).filter(({ measure }) => measure === 'solved') : []
  return groupings.flatMap((by) => {
    const rows = policies[0]!.groups.flatMap((group, i) =>
      group.by !== by ? [] : policies.map(({ label, groups }) => ({ label, group: groups[i]! })),
    )
    if (rows.length === 0 || (by !== 'environment' && rows.length === policies.length)) return []
    return [
      {
        title: `By ${GROUPINGS[by]}, %`,
        head: [
          ...['', 'tasks', ...(several ? ['policy'] : []), ...columns.map(({ heading }) => heading)],
          ...['calls, reference', ...differences.map(({ heading }) => `${heading}, difference`)],
        ],
        rows: rows.map(({ label, group }) => [
          ...[group.value, `${group.n}`, ...(several ? [label] : []), ...columns.map((column) => cell(group, column))],
          ...[group.callsReference.toFixed(2), ...differences.map((column) => difference(group, column))],
        ]),
      },
    ]
  })
}

/** Returns the columns about solved tasks. */
function solvingColumns({ sampling: { greedy, samples, temperature } }: Summary): Column[] {
  const sampled = (heading: string, measure: string): Column => ({ heading, kind: 'sampled', measure, shown: SHARE })
  return [
    ...(greedy ? [{ heading: 'greedy', kind: 'greedy', measure: 'solved', shown: SHARE } as const] : []),
    ...(samples > 0 ? [sampled(`pass@1 at T=${temperature}`, 'solved')] : []),
    ...(samples > 1
      ? [sampled(`pass@${samples}`, `pass@${samples}`), sampled(`pass^${samples}`, `pass^${samples}`)]
      : []),
  ]
}

const varianceColumns = ({ sampling: { samples } }: Summary): Column[] =>
  [...REWARD_PRESETS.keys()].flatMap((preset): Column[] =>
    samples < 2
      ? []
      : [
          {
            ...{ heading: `zero-variance groups, ${preset}`, kind: 'sampled', shown: SHARE },
            measure: `zero_variance.${preset}`,
          },
        ],
  )

const samplingsOf = ({ sampling: { greedy, samples, temperature } }: Summary) => [
  ...(greedy ? [{ kind: 'greedy' as const, name: 'greedy' }] : []),
  ...(samples > 0 ? [{ kind: 'sampled' as const, name: `T=${temperature}` }] : []),
]

const callColumns = (summary: Summary): Column[] =>
  samplingsOf(summary).map(({ kind, name }) => ({ heading: `calls, ${name}`, kind, measure: 'calls', shown: CALLS }))

const rewardColumns = (summary: Summary): Column[] =>
  [...REWARD_PRESETS.keys()].flatMap((preset) =>
    samplingsOf(summary).map(({ kind, name }) => ({
      ...{ heading: `reward ${preset}, ${name}`, kind, measure: `reward.${preset}`, shown: REWARD },
    })),
  )

function cell(measured: Measured, { kind, measure, shown }: Column): string {
  const value = measured[kind]?.[measure]
  return value ? cellOf(value, shown) : '-'
}

function difference({ difference: found }: Measured, { kind, measure, shown }: Column): string {
  const value = found?.[kind]?.[measure]
  return value ? cellOf(value, shown, true) : '-'
}

function failureTable(summary: Summary): ReportTable {
  const measures = ['solved', ...FAILURE_CLASSES.map((name) => `failure.${name}`)]
  return {
    title: 'Results of the rollouts, % (one class each)',
    head: ['policy', 'sampling', 'solved', ...FAILURE_CLASSES.map((name) => name.replace('_', ' '))],
    rows: summary.policies.flatMap(({ label, overall }) =>
      samplingsOf(summary).map(({ kind, name }) => [
        label,
        name,
        ...measures.map((measure) => (100 * overall[kind]![measure]!.mean).toFixed(1)),
      ]),
    ),
  }
}

function differenceTable({ policies }: Summary, columns: readonly Column[]): ReportTable {
  const [first, ...others] = policies as [MeasuredPolicy, ...MeasuredPolicy[]]
  return {
    title: `Differences from ${first.label}, paired by task`,
    head: ['policy', ...columns.map(({ heading }) => heading)],
    rows: others.map(({ label, overall }) => [label, ...columns.map((column) => difference(overall, column))]),
  }
}

/** Returns the table of pass@k for all reported k, if there are several. */
function curveTables({ policies, sampling: { samples } }: Summary): ReportTable[] {
  const ks = reportedKs(samples)
  if (ks.length < 2) return []
  const names = ['pass@', 'pass^'].flatMap((name) => ks.map((k) => `${name}${k}`))
  return [
    {
      title: 'pass@k (at least one of k rollouts solves the task) and pass^k (all of them do), %',
      head: ['policy', ...names],
      rows: policies.map(({ label, overall }) => [
        label,
        ...names.map((name) => cellOf(overall.sampled![name]!, SHARE)),
      ]),
    },
  ]
}

/** Returns one line about the evaluation as a whole. */
export function headline({ tasks, tooLong, dataset, sampling }: Summary): string {
  const { greedy, samples, temperature } = sampling
  const ways = [
    ...(greedy ? ['greedy'] : []),
    ...(samples > 0 ? [`${countOf(samples, 'rollout')} per task at temperature ${temperature}`] : []),
  ].join(', and ')
  const omitted = tooLong > 0 ? `; ${tooLong} more omitted, because their prompts leave no capacity for an answer` : ''
  return `${countOf(tasks, 'task')} of ${dataset.name} (${dataset.split})${omitted}: ${ways} (± standard error over tasks, omitted where all tasks are equal)`
}

/** Returns one line per policy: what it is, by its hashes. */
export const policyLines = ({ policies }: Summary): string[] =>
  policies.map(({ label, kind, sha256, baseSha256, model, backend }) => {
    const facts = {
      base: `base model ${sha256}`,
      merged: `merged model ${sha256}`,
      adapter: `adapter ${sha256} over ${baseSha256}`,
      endpoint: `model ${model} of a server`,
    }
    return `${label}: ${facts[kind]}${backend === undefined ? '' : `, ${backend}`}`
  })

/** Returns remarks about differences between the policies' rollouts. */
export const remarks = ({ policies, understood }: Summary): string[] => [
  ...(policies.some(({ kind }) => kind === 'endpoint')
    ? [
        'Policies of a server get the tools natively and return calls as data. They have another prompt than in training. A call is unreadable only if its arguments are no JSON object. Tokens are unknown: a rollout is limited by the tokens of one reply and by the server’s context. Text next to calls is not scored.',
      ]
    : []),
  ...(understood
    ? [
        `user simulator ${understood.by}: ${understood.asked} of ${understood.messages} messages have the due question; embedded rules decided ${understood.byRules}`,
      ]
    : []),
]
