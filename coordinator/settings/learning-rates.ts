/** What to begin with, for LoRA adapters of base models up to a size. */
export interface LearningRate {
  /** Parameters of the base model: this row is for fewer. */
  readonly below: number
  readonly lr: number
  /** Updates. */
  readonly warmupSteps: number
  /** Of the adapter. A run whose operator names none has the trainer's default, which these are. */
  readonly rank: number
  readonly source: string
}

/** An adapter bears about ten times the rate of the whole model: Schulman et al. 2025, "LoRA Without Regret". */
const TEN_TIMES = 'ten times what reinforcement learning of whole models takes ("LoRA Without Regret", 2025)'

export const LEARNING_RATES: readonly LearningRate[] = [
  {
    below: 1e8,
    lr: 1e-3,
    warmupSteps: 2,
    rank: 16,
    source: 'measured with the demo model of 5 million (docs/results.md)',
  },
  { below: 1e9, lr: 1e-4, warmupSteps: 5, rank: 16, source: 'between the rows beside it; not measured' },
  { below: 3e9, lr: 5e-5, warmupSteps: 5, rank: 16, source: 'between the rows beside it; not measured' },
  {
    below: 1e10,
    lr: 2e-5,
    warmupSteps: 5,
    rank: 16,
    source: `${TEN_TIMES}: 1e-6 for 4 billion (arXiv 2606.03892); LoRA takes 1e-5 to 1e-4`,
  },
  {
    below: Number.POSITIVE_INFINITY,
    lr: 1e-5,
    warmupSteps: 5,
    rank: 16,
    source: `${TEN_TIMES}: 1e-6 and less above 8 billion`,
  },
]

const count = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 })

/** A number of parameters, as people say it. */
export const sizeOf = (parameters: number): string => count.format(parameters)

/** docs/trainer.md with the table of rates as it is now. */
export function withLearningRates(text: string): string {
  const rows = LEARNING_RATES.map(({ below, lr, warmupSteps, rank, source }, i) => {
    const size = Number.isFinite(below) ? `below ${sizeOf(below)}` : `${sizeOf(LEARNING_RATES[i - 1]!.below)} and more`
    return `| ${size} | ${lr} | ${warmupSteps} | ${rank} | ${source} |\n`
  })
  const head =
    '| base model | `optimizer.lr` | `optimizer.warmupSteps` | `lora.rank` | where the rate is from |\n| --- | --- | --- | --- | --- |\n'
  return text.replace(/^\| base model \|[^\n]*\n\|[^\n]*\n(\|[^\n]*\n)*/m, () => head + rows.join(''))
}

/** Further away from the table's rate than by this factor, a rate is a mistake more often than a choice. */
export const FAR_OFF = 10

/** @param parameters  of the base model */
export const learningRateFor = (parameters: number): LearningRate =>
  LEARNING_RATES.find(({ below }) => parameters < below)!
