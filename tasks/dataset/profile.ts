/** Splits of a data set. No chain and no world seed of one occurs in another. */
export const SPLITS = ['train', 'validation', 'held-out'] as const
export type Split = (typeof SPLITS)[number]

/** What kind of task: one with calls to make, one where the right answer is a question, one where it is to decline. */
export type Kind = 'multi-turn' | 'clarification' | 'abstention'

/**
 * How conversations are made. Shares are probabilities; the paper's are from its section 3.2 where it gives them.
 */
export interface Profile {
  readonly name: string
  /** Weights of chain lengths 2, 3, 4 and 5. */
  readonly lengths: readonly [two: number, three: number, four: number, five: number]
  /** Share of chains that go on in another world where a value of the first feeds it. */
  readonly crossEnvironment: number
  /** Probability of a second and, after it, of a third user turn. */
  readonly nextTurn: readonly [second: number, third: number]
  /** How much the user says at first. The rest is `complete`. */
  readonly information: { readonly missing: number; readonly minimal: number }
  /** Share of multi-turn conversations in which a call fails and the assistant recovers. */
  readonly recovery: number
  /** Tools of the chain's own worlds on offer, those of the chain included. */
  readonly ownTools: { readonly min: number; readonly max: number }
  /** Tools of unrelated worlds: on top of the others, or in their place. */
  readonly distractors: {
    readonly share: number
    readonly min: number
    readonly max: number
    readonly place: 'on-top' | 'instead'
  }
  /** Share of tasks whose offered schemas do not list the values of enums. */
  readonly stripEnums: number
  /** Of the clarification tasks, the share whose needed tool is hidden; in the others a required value is missing. */
  readonly missingFunction: number
  /** Whether the conversation begins with a system message that tells the date and who the user is. */
  readonly context: boolean
  /** `natural` has registers, ellipsis and references; `plain` is one template per clause. */
  readonly speech: 'natural' | 'plain'
  /** Whether a user may name anything by its key, or only what people really call by its key. */
  readonly keys: 'spoken' | 'looked-up'
  /** Neighbouring examples that are made in the same worlds: generating those costs more than all else, and a small split has few neighbours. */
  readonly perEnvironment: Readonly<Record<Split, number>>
  /**
   * Rounds in which an example keeps the tool that it is about; where it gets another, tools that fewer than `least` examples call come before all
   * others.
   */
  readonly target: { readonly rounds: number; readonly least: number }
}

/** The paper's pipeline. Where the paper is silent (docs/synthesis.md lists it), the numbers are ours. */
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
  target: { rounds: 1, least: 2 },
}

/** Short tasks in the few words that the demo's five-million-parameter model knows. */
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
  target: { rounds: 3, least: 0 },
}

export const PROFILES: ReadonlyMap<string, Profile> = new Map(
  [PAPER_PROFILE, DEMO_PROFILE].map((profile) => [profile.name, profile]),
)
