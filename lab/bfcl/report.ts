import { countOf } from '../../common/errors/count-of.js'
import { markdownTable, percent } from '../../tasks/dataset/index.js'

/** Scores of one policy. */
export interface PolicyScores {
  readonly label: string
  /** SHA-256 (hex) of the adapter, or of the base model. */
  readonly sha256: string
  readonly categories: readonly {
    readonly category: string
    readonly cases: number
    /** Ids of the cases that BFCL counts as right. */
    readonly right: readonly string[]
    /** Number of cases that an error ended early, such as a full context. BFCL scores them like any other answer. */
    readonly errors: number
  }[]
}

/** Result of `prove-lab bfcl`. */
export interface BfclSummary {
  readonly package: string
  readonly version: string
  /** Name in BFCL's table of models. */
  readonly entry: string
  readonly settings: {
    readonly seed: number
    readonly context: number
    readonly maxTokens: number
    readonly toolCallFormat: string
    readonly temperature: number
  }
  /** Number of all cases of each category. */
  readonly all: Readonly<Record<string, number>>
  /** The other policies are compared with the first one. */
  readonly policies: readonly PolicyScores[]
}

/** Returns a table for people, with what is needed to repeat the measurement. */
export function renderBfcl({ package: name, version, entry, settings, all, policies }: BfclSummary): string {
  const [first, ...others] = policies
  const rows = first!.categories.map(({ category, cases }, i) => {
    const own = policies.map(({ categories }) => categories[i]!)
    return [
      category,
      cases === all[category] ? `all ${cases}` : `${cases} of ${all[category]}`,
      ...own.map(({ right }) => `${right.length} (${percent(right.length / cases)})`),
      ...own.slice(1).map(({ right }) => differenceOf(own[0]!.right, right, cases)),
    ]
  })
  const errors = policies.flatMap(({ label, categories }) =>
    categories.flatMap(({ category, errors: count }) =>
      count === 0 ? [] : [`${label}, ${category}: an error ended ${countOf(count, 'case')} early`],
    ),
  )
  const { seed, context, maxTokens, toolCallFormat, temperature } = settings
  const isSubset = first!.categories.some(({ category, cases }) => cases < all[category]!)
  return [
    `${name} ${version}, model entry ${entry}, temperature ${temperature}, context ${context} tokens, at most ${maxTokens} tokens an answer, format ${toolCallFormat}`,
    '',
    markdownTable(
      ['category', 'cases', ...policies.map(({ label }) => label), ...others.map(({ label }) => `${label}, points`)],
      rows,
    ),
    ...(errors.length > 0 ? ['', ...errors] : []),
    ...(isSubset ? ['', `Subsets by seed ${seed}: not comparable with scores of whole categories.`] : []),
  ].join('\n')
}

/** Returns the difference in points with its standard error: both policies answered the same cases. */
function differenceOf(before: readonly string[], after: readonly string[], cases: number): string {
  const was = new Set(before)
  const is = new Set(after)
  const gained = after.filter((id) => !was.has(id)).length
  const lost = before.filter((id) => !is.has(id)).length
  const mean = (gained - lost) / cases
  const variance = (gained + lost) / cases - mean ** 2
  const error = Math.sqrt(variance / cases)
  const sign = mean < 0 ? '-' : '+'
  return `${sign}${(100 * Math.abs(mean)).toFixed(1)} ± ${(100 * error).toFixed(1)}`
}
