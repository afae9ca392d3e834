import { type Coverage, occurrences } from './coverage.js'
import type { Drops } from './example.js'
import { type BarChart, drawBars } from './plots.js'
import type { Statistics, Tally } from './statistics.js'

export interface Chart {
  /** Path in the data set's folder. */
  readonly path: string
  readonly title: string
  readonly svg: string
}

/** Draws the charts of the data set card. */
export async function chartsOf(statistics: Statistics, coverage: Coverage, drops: Drops): Promise<Chart[]> {
  const chart = async (name: string, bars: BarChart): Promise<Chart> => ({
    path: `plots/${name}.svg`,
    title: bars.title,
    svg: await drawBars(bars),
  })
  const distribution = (name: string, title: string, axis: string, tally: Tally<number>): Promise<Chart> => {
    const sorted = [...tally].sort(([a], [b]) => a - b)
    const series = [{ name: 'examples', values: sorted.map(([, n]) => n) }]
    return chart(name, { title, axis, unit: 'examples', categories: sorted.map(([value]) => String(value)), series })
  }
  return Promise.all([
    distribution('turns', 'User turns per multi-turn example', 'user turns', statistics.userTurns),
    distribution('calls', 'Ground-truth calls per example', 'calls', statistics.calls),
    chart('tools-per-environment', toolsPerEnvironment(coverage)),
    chart('objections', dropsByObjection(statistics.examples, drops)),
  ])
}

const environmentOf = (tool: string): string => tool.slice(0, tool.indexOf(':'))

/** Returns the environments of the tools without duplicates, in order. */
export const environmentsOf = (tools: Coverage['tools']): string[] => [
  ...new Set(tools.map(({ tool }) => environmentOf(tool))),
]

function toolsPerEnvironment({ tools }: Coverage): BarChart {
  const environments = environmentsOf(tools)
  const counted = (fits: (row: Coverage['tools'][number]) => boolean): number[] =>
    environments.map(
      (environment) => tools.filter((row) => environmentOf(row.tool) === environment && fits(row)).length,
    )
  return {
    title: 'Tools per environment',
    axis: '',
    unit: 'tools',
    categories: environments,
    horizontal: true,
    series: [
      { name: 'in ground truth of the training split', values: counted(({ examples }) => examples.train > 0) },
      {
        name: 'only in ground truth of other splits',
        values: counted(({ examples }) => examples.train === 0 && occurrences(examples) > 0),
      },
      { name: 'in no ground truth', values: counted(({ examples }) => occurrences(examples) === 0) },
    ],
  }
}

function dropsByObjection(kept: number, drops: Drops): BarChart {
  return {
    title: 'Candidates per objection',
    axis: '',
    unit: 'candidates',
    categories: [...Object.keys(drops).map((name) => name.replaceAll('_', ' ')), 'kept'],
    horizontal: true,
    series: [{ name: 'candidates', values: [...Object.values(drops), kept] }],
  }
}
