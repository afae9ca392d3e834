import type { Row, TableView } from './table.js'

/** The tables of any world by name, of whose rows nothing is known. */
type AnyView = Readonly<Record<string, TableView<Row>>>

/** What a rule may look at beside the arguments of a call. */
export interface RuleContext<D = AnyView> {
  readonly db: D
  /** YYYY-MM-DD. */
  readonly today: string
}

interface Rule<D> {
  /** snake_case, unique in its policy. */
  readonly name: string
  /** The tool whose calls it is about. */
  readonly tool: string
  /** The rule as the document has it: whole sentences that an assistant can obey without knowing the code. */
  readonly text: string
  /**
   * What has to be known of a thing to tell whether the rule applies: fields of the row that the argument names, as results show them. Left
   * out where the arguments and the day decide.
   */
  readonly sees?: { readonly argument: string; readonly fields: readonly string[] }
  /** Whether it is about this call, which the world itself would accept. `args` fit the tool's input. */
  applies(args: Readonly<Record<string, unknown>>, context: RuleContext<D>): boolean
}

/** A call that must not be made. */
export interface DeclineRule<D = AnyView> extends Rule<D> {
  readonly demand: 'decline'
  /** What the user is told instead, as a sentence: why it is not done. */
  readonly reason: string
}

/** A call that is made only after the assistant has asked for it and the user has agreed. */
export interface ConfirmRule<D = AnyView> extends Rule<D> {
  readonly demand: 'confirm'
  /** What the user is asked; `{field}` stands for an argument that is a number or a text that people say. */
  readonly question: string
}

export type DomainRule<D = AnyView> = DeclineRule<D> | ConfirmRule<D>

/**
 * What an assistant must keep to in a world, though the world itself would accept other calls: rules of a company or household for whoever
 * works for it. A world does not enforce them, and a task may leave them out.
 */
export interface DomainRules<D = AnyView> {
  /** Whose rules they are, in a sentence. */
  readonly intro: string
  readonly rules: readonly DomainRule<D>[]
}

/** A world, as far as its policy goes. */
interface Governed {
  readonly title: string
  readonly domainRules?: DomainRules
}

/** The policy of a world as the assistant reads it, in Markdown; `undefined` for a world without one. */
export function domainRulesDocument({ title, domainRules }: Governed): string | undefined {
  if (!domainRules) return undefined
  return [
    `## ${title}`,
    domainRules.intro,
    domainRules.rules.map(({ text }, i) => `${i + 1}. ${text}`).join('\n'),
  ].join('\n\n')
}

/** The rule that a call of a tool comes under: one that forbids it before one that wants it confirmed. */
export function ruleFor(
  { domainRules }: Governed,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  context: RuleContext,
): DomainRule | undefined {
  const applying = (domainRules?.rules ?? []).filter((rule) => rule.tool === tool && rule.applies(args, context))
  return applying.find(({ demand }) => demand === 'decline') ?? applying[0]
}

/** Whether a world has rules about a tool. */
export const hasRules = ({ domainRules }: Governed, tool: string): boolean =>
  (domainRules?.rules ?? []).some((rule) => rule.tool === tool)

const FIELD = /\{(\w+)\}/g

/** A rule's question about a call. */
export const questionOf = ({ question }: ConfirmRule, args: Readonly<Record<string, unknown>>): string =>
  question.replaceAll(FIELD, (_, field: string) => String(args[field]))

/**
 * What is wrong with the declaration of a policy: names that occur twice, rules about unknown tools or arguments.
 * @returns `undefined` where nothing is
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
