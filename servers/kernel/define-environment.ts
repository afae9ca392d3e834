import type { z } from 'zod'
import { type AnswerPart, parseAnswer, unknownFields } from './answer-template.js'
import { type DomainRules, domainRulesDefect } from './domain-rules.js'
import { EnvironmentDefect } from './errors.js'
import type { City } from './gazetteer.js'
import { type ListSizes, paged } from './pages.js'
import type { SeededRandom } from './random.js'
import { withSources } from './reference-sources.js'
import type { Table, TableView } from './table.js'
import { allChoices, type WaysToAsk } from './ways-to-ask.js'

/** One table of a world. `F`: the failure codes of the world. */
export interface TableSpec<F extends string = string> {
  readonly row: z.ZodObject
  /** The field of `row` that holds the key, a string. */
  readonly key: string
  /** How a call fails that names a row which is not there; see `ToolContext.rowOf`. Left out where no call names one. */
  readonly missing?: F
}

export type Tables<F extends string = string> = Readonly<Record<string, TableSpec<F>>>
/** The names of those tables that declare how a call fails without the row. */
export type TablesOfNamedRows<T extends Tables> = {
  [K in keyof T]: T[K] extends { readonly missing: string } ? K : never
}[keyof T]
export type RowOf<S extends TableSpec> = Readonly<z.output<S['row']>>
export type Db<T extends Tables> = { readonly [K in keyof T]: Table<RowOf<T[K]>> }
export type DbView<T extends Tables> = { readonly [K in keyof T]: TableView<RowOf<T[K]>> }
export type SeedRows<T extends Tables> = { readonly [K in keyof T]: readonly RowOf<T[K]>[] }

/**
 * What stands against a call by the rules of a world: the failure it would end with, and in `detail` the names and numbers
 * that matter, in place of the failure's standard message. A rule that returns one serves handlers and samplers alike.
 */
export interface Obstacle<F extends string = string> {
  readonly code: F
  readonly detail?: string
}
/** The obstacles of a world with these failures. */
export type ObstacleOf<Failures extends Readonly<Record<string, string>>> = Obstacle<keyof Failures & string>

/** The session as a running tool sees it. Nothing else is in reach: no wall clock, no `Math.random`, no file, no network. */
export interface ToolContext<T extends Tables = Tables, F extends string = string> {
  readonly db: Db<T>
  /** The session's virtual time, ISO 8601 in UTC to the second; it advances one minute per successful writing call. */
  now(): string
  /** The date of `now()`, YYYY-MM-DD. */
  today(): string
  /** A key that is new in this session, such as `transfer-418`. The same seed and calls give the same keys. */
  nextId(prefix: string): string
  readonly random: SeededRandom
  /** Ends the call with a domain failure: everything it wrote is taken back. `detail` replaces the code's standard message. */
  fail(code: F, detail?: string): never
  /** Ends the call with the failure of the obstacle, if there is one. */
  unless(obstacle: Obstacle<F> | undefined): void
  /** The row of this key. Without one the call ends with the failure that the table declares as `missing`. */
  rowOf<K extends TablesOfNamedRows<T>>(table: K, key: string): RowOf<T[K]>
}

/** What a sampler of arguments may look at. */
export interface SampleContext<T extends Tables = Tables, A = Record<string, unknown>> {
  readonly db: DbView<T>
  readonly random: SeededRandom
  /** Arguments that are already fixed because an earlier call of the chain produced them: keep them, choose the rest to fit. */
  readonly bound: Partial<A>
  now(): string
  today(): string
}

/**
 * After so many wrong secrets in a row for one thing, no secret is taken for it any more in this session, the right one neither. The session
 * counts, and not the tables: a call that fails leaves these alone.
 */
export interface Lockout {
  readonly attempts: number
  /** Failure of a call with a wrong secret. */
  readonly wrong: string
  /** Failure of every call with a secret after that. */
  readonly locked: string
}

export interface ToolAnnotations {
  /** Changes nothing. */
  readonly readOnly: boolean
  /** Deletes or overwrites something a user would miss. Default false. */
  readonly destructive?: boolean
  /** A second call with the same arguments changes nothing more. Default: `readOnly`. */
  readonly idempotent?: boolean
}

/**
 * A tool, as its author writes it.
 *
 * `ask` holds the ways a user would ask for the call, as clauses in the imperative that fit after "Please" and after
 * "then": `{field}` stands for an argument's value, `[...]` for a part that appears only when the optional fields in it
 * are given. Every required field must occur in every clause.
 */
export interface ToolSpec<T extends Tables, F extends string, I extends z.ZodObject, O extends z.ZodObject> {
  readonly name: string
  readonly description: string
  /** A `z.strictObject`: undeclared keys are refused. */
  readonly input: I
  readonly output: O
  /**
   * Lists at the top of the output that are shown a page at a time, with the size of the page. `run` returns all entries; the kernel
   * cuts them, takes the number of the page as the optional argument `page`, and answers with `next_page` while there is one.
   */
  readonly pages?: ListSizes<z.input<O>>
  readonly annotations: ToolAnnotations
  /** Facts that the call leaves true, such as `card_frozen`: an implicit edge to every tool that `needs` one of them. */
  readonly establishes?: readonly string[]
  readonly needs?: readonly string[]
  readonly ask: readonly string[]
  /** Set by `undecided(…)` alone: the tool only looks like one so far. */
  readonly undecided?: string
  /** Plausible arguments drawn from the live state, or `null` when the state has nothing to offer. They should usually succeed. */
  sample(context: SampleContext<T, z.input<I>>): (z.input<I> & { readonly page?: number }) | null
  run(args: z.output<I>, context: ToolContext<T, F>): z.input<O>
}

/** A tool as the kernel sees it: the types of one world erased. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  readonly pages?: ListSizes
  readonly annotations: ToolAnnotations
  readonly establishes?: readonly string[]
  readonly needs?: readonly string[]
  readonly ask: readonly string[]
  readonly undecided?: string
  sample(context: SampleContext): Record<string, unknown> | null
  run(args: Record<string, unknown>, context: ToolContext): Record<string, unknown>
}

/** How people speak of a call, beside the clauses that ask for it. */
export interface CallWords {
  /** What somebody is after who has given no detail yet, as an infinitive: `cancel a payment`. */
  readonly goal: string
  /** What they are told when it is done, as a template that `AnswerPart` describes. */
  readonly answer: string
  /** Arguments that belong to the wish itself: nobody who has it leaves them out. */
  readonly said?: readonly string[]
  /** Of a call that changes something: those that somebody would make next about the same thing, and why is plain. None: it is an end in itself. */
  readonly next?: readonly string[]
  /**
   * Look-ups that somebody would make after it, to see what came of it or to go on; of a look-up, those about the same thing. None: there is
   * nothing to look at. Left out, they are after a look-up any, and after a change those whose result shows it, but none at the very thing of which
   * the call has told. A look-up from which a later call takes something needs no mention.
   */
  readonly checks?: readonly string[]
  /**
   * Of a look-up: tools of other worlds, as `maps:plan_route`, with which somebody goes on that takes the city, address or date that it tells.
   * Worlds need not be there: what is named and absent is passed over.
   */
  readonly elsewhere?: readonly string[]
  /**
   * What it is good for where nobody says in which world, in words that tools of any world share which serve it as well: an address to which
   * things are delivered, somebody's name, a place on the way.
   */
  readonly wishes?: readonly string[]
}

/** How people speak of an entity. */
export interface EntitySpec {
  /** Singular, lower case: `account`, `calendar event`. */
  readonly noun: string
  /** The table whose keys are this entity's keys. */
  readonly table: string
  /** The field of the table's row, also shown beside the key in results, by which a user would name one: `title`, `name`. */
  readonly label?: string
  /** People call it by its key, as they do with issue numbers: a user may name one that no result has shown. */
  readonly sayable?: boolean
  /** People say it with an article, by its key as by its label: `the living room`, `the Balcony Light`. */
  readonly article?: boolean
}

export interface SeedContext {
  readonly random: SeededRandom
  /** Virtual time at which sessions begin, ISO 8601 UTC. */
  readonly start: string
  /** Where the user lives, the same in all worlds of one seed. */
  readonly home: City
}

/** Something that holds in every reachable state. Returns what is wrong, or nothing. */
export interface Invariant<T extends Tables> {
  readonly name: string
  check(now: DbView<T>, seed: DbView<T>): string | undefined
}

export interface EnvironmentSpec<T extends Tables> {
  /** snake_case; also the name of the MCP server. */
  readonly name: string
  readonly title: string
  readonly description: string
  readonly tables: T
  readonly entities: Readonly<Record<string, EntitySpec>>
  /** Stable failure codes with their standard messages. */
  readonly failures: Readonly<Record<string, string>>
  /** How secrets are kept from being tried out: of any world in which a call takes one of a few digits. */
  readonly lockout?: Lockout
  readonly tools: readonly ToolDefinition[]
  readonly invariants: readonly Invariant<T>[]
  /** By tool. A tool without has an answer made of its fields, and a goal made of its description. */
  readonly callWords?: Readonly<Record<string, CallWords>>
  /** By tool. A tool without is asked for in the clauses of its `ask` alone. */
  readonly waysToAsk?: Readonly<Record<string, WaysToAsk>>
  /** What an assistant must keep to in tasks that have policies. */
  readonly domainRules?: DomainRules<DbView<T>>
  /** Its calls send a car somewhere, which nobody wants who has just looked for a way without one. */
  readonly drives?: true
  /** The rows a world of this seed starts with: large and varied enough to ask about, the same for the same seed on every machine. */
  seed(context: SeedContext): SeedRows<T>
}

/** A world with the types of its tables erased: what the kernel, the catalogue and the synthesiser work with. */
export interface Environment {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly tables: Tables
  readonly entities: Readonly<Record<string, EntitySpec>>
  readonly failures: Readonly<Record<string, string>>
  readonly lockout?: Lockout
  readonly tools: readonly ToolDefinition[]
  readonly toolsByName: ReadonlyMap<string, ToolDefinition>
  readonly invariants: readonly Invariant<Tables>[]
  readonly callWords?: Readonly<Record<string, CallWords>>
  readonly waysToAsk?: Readonly<Record<string, WaysToAsk>>
  readonly domainRules?: DomainRules
  readonly drives?: true
  /** SHA-256 of the code of a world from outside this package. Those within are as old as the program. */
  readonly codeSha256?: string
  seed(context: SeedContext): Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
}

/**
 * Returns the function that declares tools of one world, so that handlers are typed by its tables and failure codes. The
 * tables are declared `as const`: a `missing` that is none of the failures then does not compile.
 */
export function toolMaker<F extends string, T extends Tables<F>>(_tables: T, _failures: Readonly<Record<F, string>>) {
  return <I extends z.ZodObject, O extends z.ZodObject>(spec: ToolSpec<T, F, I, O>): ToolDefinition => {
    const tool = spec as unknown as ToolDefinition
    return tool.pages ? paged(tool, tool.pages) : tool
  }
}

export const SNAKE_CASE = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/

/**
 * Declares a world.
 * @throws WorldDefect if the declaration contradicts itself: badly named or duplicate tools; tables whose rows lack the key,
 *   or whose `missing` is no failure; a lockout by codes that are none; entities without a table; clauses that leave a required field out, name an unknown
 *   one, or have an optional one outside brackets; ways to ask for no tool; answers that do not parse, or name an unknown field or tool; rules of a policy about an unknown
 *   tool or argument
 */
export function defineEnvironment<T extends Tables>(spec: EnvironmentSpec<T>): Environment {
  checkDeclaration(spec as unknown as EnvironmentSpec<Tables>)
  const tools = withSources(spec)
  const toolsByName = new Map(tools.map((tool) => [tool.name, tool]))
  return { ...spec, tools, toolsByName } as unknown as Environment
}

function checkDeclaration(spec: EnvironmentSpec<Tables>): void {
  const { name, tables, entities, failures, lockout, tools, callWords = {}, waysToAsk = {}, domainRules } = spec
  const defect = (message: string): never => {
    throw new EnvironmentDefect(name, message)
  }
  const rules = domainRules?.rules.map((rule) => rule.name) ?? []
  for (const word of [name, ...tools.map((tool) => tool.name), ...Object.keys(failures), ...rules]) {
    if (!SNAKE_CASE.test(word)) defect(`"${word}" is not snake_case`)
  }
  for (const [table, { row, key, missing }] of Object.entries(tables)) {
    if (!row.shape[key]) defect(`table ${table}: its rows have no field "${key}" to hold the key`)
    if (missing !== undefined && failures[missing] === undefined) {
      defect(`table ${table}: "${missing}", for a row that is missing, is not among the failures`)
    }
  }
  for (const [entity, { table }] of Object.entries(entities)) {
    if (!tables[table]) defect(`entity ${entity}: no table "${table}"`)
  }
  for (const code of lockout ? [lockout.wrong, lockout.locked] : []) {
    if (failures[code] === undefined) defect(`lockout: "${code}" is not among the failures`)
  }
  if (new Set(tools.map((tool) => tool.name)).size !== tools.length) defect('two tools have the same name')
  for (const tool of tools) {
    if (tool.ask.length === 0) defect(`${tool.name}: no clause asks for it`)
    checkClauses(tool, [...tool.ask, ...(waysToAsk[tool.name]?.clauses ?? []).flatMap(allChoices)], defect)
  }
  const unasked = Object.keys(waysToAsk).find((name) => tools.every((tool) => tool.name !== name))
  if (unasked !== undefined) defect(`ways to ask for "${unasked}", which is no tool`)
  checkAnswers(tools, callWords, defect)
  const broken = domainRules && domainRulesDefect(domainRules, tools)
  if (broken) defect(broken)
}

function checkAnswers(
  tools: readonly ToolDefinition[],
  callWords: Readonly<Record<string, CallWords>>,
  defect: (message: string) => never,
): void {
  for (const [called, { answer, said = [], next = [], checks = [], elsewhere = [] }] of Object.entries(callWords)) {
    const tool = tools.find((each) => each.name === called) ?? defect(`words for "${called}", which is no tool`)
    const unknown = unknownFields(parsedOr(called, answer, defect), tool.output, tool.input)
    const unasked = said.find((field) => tool.input.shape[field]?.isOptional() !== false)
    if (unasked !== undefined) defect(`${called}: "${unasked}", which is always said, is no argument that it needs`)
    const strange = next.find((following) => tools.every(({ name }) => name !== following))
    if (strange !== undefined) defect(`${called}: "${strange}", which is to follow it, is no tool`)
    if (elsewhere.length > 0 && !tool.annotations.readOnly)
      defect(`${called}: only from a look-up people go on elsewhere`)
    const blind = checks.find((check) => !tools.some(({ name, annotations }) => name === check && annotations.readOnly))
    if (blind !== undefined) defect(`${called}: "${blind}", which is to check it, is no look-up`)
    if (unknown.length > 0) defect(`${called}: its answer names the unknown fields ${unknown.join(', ')}`)
  }
}

function parsedOr(called: string, answer: string, defect: (message: string) => never): AnswerPart[] {
  try {
    return parseAnswer(answer)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    return defect(`${called}: ${cause.message}`)
  }
}

function checkClauses(tool: ToolDefinition, clauses: readonly string[], defect: (message: string) => never): void {
  const fields = Object.entries(tool.input.shape)
  for (const clause of clauses) {
    const outside = clause.replaceAll(/\[[^\]]*\]/g, '')
    for (const [field, schema] of fields) {
      const optional = (schema as z.ZodType).isOptional()
      if (!optional && !outside.includes(`{${field}}`)) defect(`${tool.name}: clause "${clause}" leaves {${field}} out`)
      // It would be said as "undefined" whenever it is not given.
      if (optional && outside.includes(`{${field}}`)) {
        defect(`${tool.name}: clause "${clause}" has the optional {${field}} outside brackets`)
      }
    }
    for (const [, field] of clause.matchAll(/\{([^}]*)\}/g)) {
      if (!fields.some(([name]) => name === field))
        defect(`${tool.name}: clause "${clause}" names the unknown field {${field}}`)
    }
  }
}
