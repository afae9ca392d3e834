/** Splits of a data set. No chain and no environment seed occurs in two splits. */
export const SPLITS = ['train', 'validation', 'held-out'] as const
export type Split = (typeof SPLITS)[number]

/** Kind of a task: with calls to make, with a question as the right answer, or with a refusal as the right answer. */
export type Kind = 'multi-turn' | 'clarification' | 'abstention'

/** Shares of the ways in which the conversations with a failed call go on. */
export const RECOVERY_SHARES = [
  ['corrected', 0.6],
  ['other-tool', 0.2],
  ['gave-up', 0.2],
] as const

/** Settings of conversations. Shares are probabilities. The shares of the paper are from its section 3.2. */
export interface Profile {
  readonly name: string
  /** Weights of chain lengths 2, 3, 4 and 5. */
  readonly lengths: readonly [two: number, three: number, four: number, five: number]
  /** Share of chains that continue in another environment, if a value of the first one feeds it. */
  readonly crossEnvironment: number
  /** Probability of a second and, after it, of a third user turn. */
  readonly nextTurn: readonly [second: number, third: number]
  /** Shares of conversations with missing values at first. The rest is `complete`. */
  readonly information: { readonly missing: number; readonly minimal: number }
  /** Share of multi-turn conversations in which a call fails and the assistant recovers. */
  readonly recovery: number
  /** Number of offered tools of the chain's environments, including those of the chain. */
  readonly ownTools: { readonly min: number; readonly max: number }
  /** Offered tools of unrelated environments: in addition to the others, or instead of some. */
  readonly distractors: {
    readonly share: number
    readonly min: number
    readonly max: number
    readonly place: 'on-top' | 'instead'
  }
  /** Share of tasks whose offered schemas omit enum values. */
  readonly stripEnums: number
  /** Share of the clarification tasks whose needed tool is hidden. The others lack a required value. */
  readonly missingFunction: number
  /** Whether the conversation begins with a system message that states the date and the user. */
  readonly context: boolean
  /** `natural`: registers, ellipsis and references. `plain`: one template per clause. */
  readonly speech: 'natural' | 'plain'
  /** `spoken`: users may name any entity by its key. `looked-up`: only entities that people name by keys. */
  readonly keys: 'spoken' | 'looked-up'
  /** Number of consecutive examples with the same environment seeds. Generating seeds costs most of the time, and a small split has few examples. */
  readonly perEnvironment: Readonly<Record<Split, number>>
}

/** The paper's pipeline. docs/explain/synthesis.md lists the numbers that the paper does not give. */
export const PAPER_PROFILE: Profile = {
  name: 'paper',
  lengths: [0.3, 0.35, 0.22, 0.13],
  crossEnvironment: 0.08,
  nextTurn: [1, 0.5],
  information: { missing: 0.2, minimal: 0.2 },
  recovery: 0.1,
  ownTools: { min: 6, max: 12 },
  distractors: { share: 0.4, min: 3, max: 8, place: 'on-top' },
  stripEnums: 0.3,
  missingFunction: 0.7,
  context: true,
  speech: 'natural',
  keys: 'looked-up',
  perEnvironment: { train: 50, validation: 500, 'held-out': 500 },
}

/** Short tasks in the vocabulary of the demo model with five million parameters. */
export const DEMO_PROFILE: Profile = {
  name: 'demo',
  lengths: [0.45, 0.4, 0.15, 0],
  crossEnvironment: 0,
  nextTurn: [0.3, 0],
  information: { missing: 0, minimal: 0 },
  recovery: 0,
  ownTools: { min: 4, max: 6 },
  distractors: { share: 0.4, min: 1, max: 1, place: 'instead' },
  stripEnums: 0,
  missingFunction: 0,
  context: false,
  speech: 'plain',
  keys: 'spoken',
  perEnvironment: { train: 50, validation: 50, 'held-out': 50 },
}

/** Profiles by name. */
export const PROFILES: ReadonlyMap<string, Profile> = new Map(
  [PAPER_PROFILE, DEMO_PROFILE].map((profile) => [profile.name, profile]),
)
