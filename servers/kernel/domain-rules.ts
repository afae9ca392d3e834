import type { Row, TableView } from './table.js'

/** Tables of an environment with rows of unknown types. */
type AnyView = Readonly<Record<string, TableView<Row>>>

/** Everything that a rule may read in addition to the arguments of a call. */
export interface RuleContext<D = AnyView> {
  readonly db: D
  /** YYYY-MM-DD. */
  readonly today: string
}

interface Rule<D> {
  /** snake_case, unique in the environment. */
  readonly name: string
  /** The tool whose calls the rule is about. */
  readonly tool: string
  /** The rule in whole sentences, which an assistant can follow without the code. */
  readonly text: string
  /**
   * Fields that decide whether the rule applies, in the row that the argument names, as results show them. Omit it where the arguments and the
   * date decide.
   */
  readonly sees?: { readonly argument: string; readonly fields: readonly string[] }
  /** Returns whether the rule applies to a call that the environment accepts. `args` fit the input of the tool. */
  applies(args: Readonly<Record<string, unknown>>, context: RuleContext<D>): boolean
}

/** A rule that forbids a call. */
export interface DeclineRule<D = AnyView> extends Rule<D> {
  readonly demand: 'decline'
  /** Sentence that tells the user why the call is not made. */
  readonly reason: string
}

/** A rule that requires the user's agreement before a call. */
export interface ConfirmRule<D = AnyView> extends Rule<D> {
  readonly demand: 'confirm'
  /** Question to the user. `{field}` is replaced by an argument that is a number or a text. */
  readonly question: string
}

export type DomainRule<D = AnyView> = DeclineRule<D> | ConfirmRule<D>

/**
 * Rules that an assistant must follow in an environment, for example the rules of a company. The environment accepts calls that break the rules,
 * and a task may omit the rules.
 */
export interface DomainRules<D = AnyView> {
  /** Sentence that says whose rules these are. */
  readonly intro: string
  readonly rules: readonly DomainRule<D>[]
}

/** An environment, reduced to its domain rules. */
interface Governed {
  readonly title: string
  readonly domainRules?: DomainRules
}

/** Returns the domain rules of an environment in Markdown, as the assistant reads them, or `undefined` if there are none. */
export function domainRulesDocument({ title, domainRules }: Governed): string | undefined {
  if (!domainRules) return undefined
  return [
    `## ${title}`,
    domainRules.intro,
    domainRules.rules.map(({ text }, i) => `${i + 1}. ${text}`).join('\n'),
  ].join('\n\n')
}

/** Returns the rule that applies to a call: a rule that forbids the call takes precedence over one that requires agreement. */
export function ruleFor(
  { domainRules }: Governed,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  context: RuleContext,
): DomainRule | undefined {
  const applying = (domainRules?.rules ?? []).filter((rule) => rule.tool === tool && rule.applies(args, context))
  return applying.find(({ demand }) => demand === 'decline') ?? applying[0]
}

/** Returns whether an environment has rules about a tool. */
export const hasRules = ({ domainRules }: Governed, tool: string): boolean =>
  (domainRules?.rules ?? []).some((rule) => rule.tool === tool)

const FIELD = /\{(\w+)\}/g

/** Returns the question of a rule about a call. */
export const questionOf = ({ question }: ConfirmRule, args: Readonly<Record<string, unknown>>): string =>
  question.replaceAll(FIELD, (_, field: string) => String(args[field]))

/**
 * Checks domain rules for names that occur twice and for unknown tools or arguments.
 * @returns a description of the defect, or `undefined`
 */
export function domainRulesDefect(
  { rules }: Pick<DomainRules, 'rules'>,
  tools: readonly { readonly name: string; readonly input: { readonly shape: Readonly<Record<string, unknown>> } }[],
): string | undefined {
  if (new Set(rules.map(({ name }) => name)).size !== rules.length) return 'two rules have the same name'
  for (const rule of rules) {
    const tool = tools.find(({ name }) => name === rule.tool)
    if (!tool) return `rule ${rule.name}: there is no tool "${rule.tool}"`
    const asked = rule.demand === 'confirm' ? [...rule.question.matchAll(FIELD)].map(([, field]) => field!) : []
    const strange = [...asked, ...(rule.sees ? [rule.sees.argument] : [])].find((field) => !tool.input.shape[field])
    if (strange !== undefined) return `rule ${rule.name}: ${rule.tool} has no argument "${strange}"`
  }
  return undefined
}
