import { countOf } from '../../common/errors/index.js'
import type { Estimate } from '../../rollout/episode/index.js'
import { markdownTable } from '../../tasks/dataset/index.js'
import { MEASURES, type Measure, type Measured, type VariantSummary } from './summarise.js'
import { VARIANTS, WHOLE } from './variants.js'

/** Size of the training and the evaluation. */
export interface AblationScale {
  readonly samples: number
  readonly steps: number
}

/** Returns the tables in Markdown, as in docs/reports/results.md. */
export function ablationTables(summaries: readonly VariantSummary[], { samples, steps }: AblationScale): string {
  const headings = MEASURES.map(({ shown }) => shown.heading)
  return [
    `${countOf(summaries[0]?.tasks ?? 0, 'held-out task')}, ${countOf(samples, 'rollout')} each, after ${countOf(steps, 'step')} (± standard error over tasks).`,
    '',
    markdownTable(
      ['trained by', 'seeds', ...headings],
      summaries.map(({ variant, seeds, measured }) => [
        variant ?? '(untrained base)',
        String(seeds),
        ...cells(measured),
      ]),
    ),
    '',
    `Difference from \`${WHOLE}\`, on the same tasks and seeds:`,
    '',
    markdownTable(
      ['trained by', ...headings, 'solved, by seed', 'in the paper: BFCL, tau2, T-Eval'],
      summaries.flatMap(({ variant, change, solvedBySeed }) => {
        if (change === null || variant === null) return []
        const inPaper = VARIANTS.get(variant)?.inPaper
        const bySeed = solvedBySeed.map((share) => signed(100 * share)).join(', ')
        return [[variant, ...cells(change), bySeed, inPaper ? inPaper.map(signed).join(', ') : '-']]
      }),
    ),
  ].join('\n')
}

const cells = (measured: Measured): string[] => MEASURES.map((measure) => cell(measure, measured[measure.name]!))

function cell({ shown: { scale, digits } }: Measure, { mean, stderr }: Estimate): string {
  return `${(scale * mean).toFixed(digits)} ± ${(scale * stderr).toFixed(digits)}`
}

const signed = (value: number): string => `${value > 0 ? '+' : ''}${value.toFixed(1)}`
