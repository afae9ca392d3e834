import { DomainFailure } from './errors.js'

/** What stands in a tool for what its author has not decided yet. */
export interface Undecided {
  /** The question, for the author. */
  readonly undecided: string
  sample(): null
  run(): never
}

/**
 * `sample` and `run` of a tool of which only the declaration is there: nothing is asked for with it, and a call ends with the failure
 * `undecided`. So a draft of a world can be served and looked at, and never does as if it worked.
 * @param question  what has to be decided
 */
export function undecided(question: string): Undecided {
  return {
    undecided: question,
    sample: () => null,
    run: () => {
      throw new DomainFailure('undecided', `Nobody has decided yet what this does: ${question}`)
    },
  }
}
