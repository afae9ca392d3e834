import type { Environment, ToolDefinition } from './define-environment.js'

/** Meanings of calls. `docs/environments/speech.md` has a row for each. */
export const EFFECTS = ['commits', 'adds', 'reports', 'ends', 'renews', 'seeks', 'amends'] as const
export type Effect = (typeof EFFECTS)[number]

/** How users ask for a tool, and how the assistant reports its result. `docs/environments/speech.md` explains every field. */
export interface ToolSpeech {
  /** Goal of a user who gives no detail yet, as an infinitive: `cancel a payment`. Default: made from the tool's description. */
  readonly goal?: string
  /** Template of the assistant's report, see `AnswerPart`. Default: made from the fields of the result. */
  readonly answer?: string
  /** Required arguments that a user always gives. */
  readonly said?: readonly string[]
  /** Numbers that a user keeps from an earlier call for the same purpose, such as the nights of a stay. */
  readonly keeps?: readonly string[]
  /** Changes that a user would make next about the same thing. Empty or missing: none. */
  readonly next?: readonly string[]
  /**
   * Look-ups that a user would make after the call. Empty: none. Missing: after a look-up, any; after a change, those whose result shows the
   * change.
   */
  readonly checks?: readonly string[]
  /** Tools of other environments, as `maps:plan_route`, that a user calls with a city, address or date of the result. */
  readonly elsewhere?: readonly string[]
  /** Purposes that tools of any environment share. Tools with the same wish are alternatives to each other. */
  readonly wishes?: readonly string[]
  /** Meanings of the call that its name and annotations do not state. */
  readonly effects?: readonly Effect[]
  /** Clauses in the imperative that ask for the call: `freeze {card}`. They contain no choices. */
  readonly ask: readonly string[]
  /** Further clauses and goals, with choices such as `(find|look for)`. Every fourth is used in held-out tasks only. */
  readonly further: { readonly ask: readonly string[]; readonly goals: readonly string[] }
}

/** Speech of an environment, by the name of the tool. */
export type EnvironmentSpeech = ReadonlyMap<string, ToolSpeech>

/** An environment with its speech, as synthesis needs it. */
export interface SpokenEnvironment extends Environment {
  readonly speech: EnvironmentSpeech
}

/** Returns the speech of a tool. */
export const speechOf = ({
  environment,
  tool,
}: {
  readonly environment: SpokenEnvironment
  readonly tool: ToolDefinition
}): ToolSpeech => environment.speech.get(tool.name)!

/** Returns whether the speech of a tool names an effect of its calls. */
export const hasEffect = (
  node: { readonly environment: SpokenEnvironment; readonly tool: ToolDefinition },
  effect: Effect,
): boolean => speechOf(node).effects?.includes(effect) ?? false

const CHOICE = /\(([^()]*\|[^()]*)\)/

/** Replaces each choice of a template, such as `(find|look for)`, by the alternative that `pick` returns. */
export const withChoices = (template: string, pick: (words: readonly string[]) => string): string =>
  template.replaceAll(new RegExp(CHOICE, 'g'), (_, words: string) => pick(words.split('|')))

/** Returns every text that a template with choices can become. */
export function allChoices(template: string): string[] {
  const found = CHOICE.exec(template)
  if (!found) return [template]
  const before = template.slice(0, found.index)
  const rest = allChoices(template.slice(found.index + found[0].length))
  return found[1]!.split('|').flatMap((words) => rest.map((after) => before + words + after))
}
