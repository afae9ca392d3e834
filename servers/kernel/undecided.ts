import { DomainFailure } from './errors.js'

/** The part of a tool that its author has not decided yet. */
export interface Undecided {
  /** The question, for the author. */
  readonly undecided: string
  sample(): null
  run(): never
}

/**
 * Returns `sample` and `run` of a tool that has only a declaration. Nothing is sampled for the tool, and every call ends with the failure
 * `undecided`. A draft of an environment can thus be served and inspected.
 * @param question  the question that its author has to answer
 */
export function undecided(question: string): Undecided {
  return {
    undecided: question,
    sample: () => null,
    run: () => {
      throw new DomainFailure('undecided', `The author has not decided yet what this tool does: ${question}`)
    },
  }
}
