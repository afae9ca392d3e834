/** Learning rate to begin with, for LoRA adapters of base models up to a size. */
export interface LearningRate {
  /** Upper bound of the base model's parameters. */
  readonly below: number
  readonly lr: number
  /** Number of updates. */
  readonly warmupSteps: number
  /** Rank of the adapter: the trainer's default. */
  readonly rank: number
  readonly source: string
}

/** A LoRA adapter needs about ten times the learning rate of full training: Schulman et al. 2025, "LoRA Without Regret". */
const TEN_TIMES = 'ten times the rate of reinforcement learning of whole models ("LoRA Without Regret", 2025)'

export const LEARNING_RATES: readonly LearningRate[] = [
  {
    below: 1e8,
    lr: 1e-3,
    warmupSteps: 2,
    rank: 16,
    source: 'measured with the demo model of 5 million (docs/reports/results.md)',
  },
  { below: 1e9, lr: 1e-4, warmupSteps: 5, rank: 16, source: 'interpolated; not measured' },
  { below: 3e9, lr: 5e-5, warmupSteps: 5, rank: 16, source: 'interpolated; not measured' },
  {
    below: 1e10,
    lr: 2e-5,
    warmupSteps: 5,
    rank: 16,
    source: `${TEN_TIMES}: 1e-6 for 4 billion (arXiv 2606.03892); usual for LoRA: 1e-5 to 1e-4`,
  },
  {
    below: Number.POSITIVE_INFINITY,
    lr: 1e-5,
    warmupSteps: 5,
    rank: 16,
    source: `${TEN_TIMES}: 1e-6 and less and less above 8 billion`,
  },
]

const count = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 })

/** Formats a number of parameters, such as 4B. */
export const sizeOf = (parameters: number): string => count.format(parameters)

/** Returns docs/reference/trainer.md with the current table of rates. */
export function withLearningRates(text: string): string {
  const rows = LEARNING_RATES.map(({ below, lr, warmupSteps, rank, source }, i) => {
    const size = Number.isFinite(below) ? `below ${sizeOf(below)}` : `${sizeOf(LEARNING_RATES[i - 1]!.below)} and more`
    return `| ${size} | ${lr} | ${warmupSteps} | ${rank} | ${source} |\n`
  })
  const head =
    '| base model | `optimizer.lr` | `optimizer.warmupSteps` | `lora.rank` | source of the rate |\n| --- | --- | --- | --- | --- |\n'
  return text.replace(/^\| base model \|[^\n]*\n\|[^\n]*\n(\|[^\n]*\n)*/m, () => head + rows.join(''))
}

/** Factor from the table's rate beyond which a rate is more likely a mistake than a choice. */
export const FAR_OFF = 10

/** Returns the row for a base model. @param parameters  of the base model */
export const learningRateFor = (parameters: number): LearningRate =>
  LEARNING_RATES.find(({ below }) => parameters < below)!
