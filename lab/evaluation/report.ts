import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import Table from 'cli-table3'
import writeFileAtomic from 'write-file-atomic'
import { markdownTable } from '../../tasks/dataset/index.js'
import { type BarChart, drawBars } from '../../tasks/dataset/plots.js'
import type { Measured, Summary } from './summary.js'
import { groupTables, headline, overallTables, policyLines, type ReportTable, remarks } from './tables.js'

/** Renders the result for a terminal: all tasks, then the groups by environment and kind. */
export function renderText(summary: Summary): string {
  const tables = [...overallTables(summary), ...groupTables(summary, ['environment', 'kind'])]
  return [headline(summary), ...policyLines(summary), ...tables.map(textTable), ...remarks(summary)].join('\n')
}

function textTable({ title, head, rows }: ReportTable): string {
  const table = new Table({
    head: head.map((heading) => heading.replaceAll(', ', '\n')),
    style: { head: [], border: [], compact: true },
    colAligns: ['left', ...head.slice(1).map(() => 'right' as const)],
  })
  table.push(...rows.map((row) => [...row]))
  return `\n${title}\n${table.toString()}`
}

/** Renders the result as Markdown, with links to the pictures of `drawCharts`. */
export function renderReport(summary: Summary): string {
  const charts = chartsOf(summary)
  return `${[
    '# Evaluation',
    `${headline(summary)}.`,
    policyLines(summary)
      .map((line) => `- ${line}`)
      .join('\n'),
    ...charts.map(({ name, bars }) => `![${bars.title}](${name})`),
    ...[...overallTables(summary), ...groupTables(summary)].flatMap(({ title, head, rows }) => [
      `## ${title}`,
      markdownTable(head, rows),
    ]),
    ...remarks(summary),
    'The measures are defined in docs/use-a-model/evaluate.md of PROVE swarm.',
  ].join('\n\n')}\n`
}

interface NamedChart {
  /** File name. */
  readonly name: string
  readonly bars: BarChart
}

/** Returns the charts of an evaluation: the policies by every measure of solving, and the environments by policy. */
function chartsOf(summary: Summary): NamedChart[] {
  const { policies, sampling } = summary
  const { greedy, samples, temperature } = sampling
  const percent = (value: number | undefined): number => Math.round(1000 * (value ?? 0)) / 10
  const measures: [name: string, of: (measured: Measured) => number | undefined][] = [
    ...(greedy ? [['greedy', (one: Measured) => one.greedy?.solved?.mean] as never] : []),
    ...(samples > 0 ? [[`pass@1 at T=${temperature}`, (one: Measured) => one.sampled?.solved?.mean] as never] : []),
    ...(samples > 1
      ? ['pass@', 'pass^'].map(
          (name) => [`${name}${samples}`, (one: Measured) => one.sampled?.[`${name}${samples}`]?.mean] as never,
        )
      : []),
  ]
  const [main, ofMain] = measures[0]!
  const environments = policies[0]!.groups.flatMap(({ by, value }) => (by === 'environment' ? [value] : []))
  return [
    {
      name: 'solved.svg',
      bars: {
        title: 'Solved tasks by policy, %',
        axis: '',
        unit: '%',
        categories: policies.map(({ label }) => label),
        series: measures.map(([name, of]) => ({ name, values: policies.map(({ overall }) => percent(of(overall))) })),
        layout: 'side-by-side',
        horizontal: true,
      },
    },
    {
      name: 'environments.svg',
      bars: {
        title: `Solved tasks by environment, % (${main})`,
        axis: '',
        unit: '%',
        categories: environments,
        series: policies.map(({ label, groups }) => ({
          name: label,
          values: groups.flatMap((group) => (group.by === 'environment' ? [percent(ofMain(group))] : [])),
        })),
        layout: 'side-by-side',
        horizontal: true,
      },
    },
  ]
}

/** Writes `summary.json`, `report.md` and the pictures into a folder. The same summary gives the same bytes. */
export async function writeReport(folder: string, summary: Summary): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFileAtomic(join(folder, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`)
  for (const { name, bars } of chartsOf(summary)) await writeFileAtomic(join(folder, name), await drawBars(bars))
  await writeFileAtomic(join(folder, 'report.md'), renderReport(summary))
}
