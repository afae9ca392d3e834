/** How people ask for a call, beside the clauses of its tool: the words of a data set are as many as there are ways. */
export interface WaysToAsk {
  /** As the tool's `ask`, where `(find|look for)` stands for either. */
  readonly clauses: readonly string[]
  /** As `goal` of its `callWords`, likewise. */
  readonly goals: readonly string[]
}

const CHOICE = /\(([^()]*\|[^()]*)\)/

/** The template with one of the words of each choice, as `pick` has it. */
export const withChoices = (template: string, pick: (words: readonly string[]) => string): string =>
  template.replaceAll(new RegExp(CHOICE, 'g'), (_, words: string) => pick(words.split('|')))

/** Every way to choose. */
export function allChoices(template: string): string[] {
  const found = CHOICE.exec(template)
  if (!found) return [template]
  const before = template.slice(0, found.index)
  const rest = allChoices(template.slice(found.index + found[0].length))
  return found[1]!.split('|').flatMap((words) => rest.map((after) => before + words + after))
}
