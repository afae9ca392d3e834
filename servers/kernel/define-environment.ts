import type { z } from 'zod'
import { type DomainRules, domainRulesDefect } from './domain-rules.js'
import { EnvironmentDefect } from './errors.js'
import type { City } from './gazetteer.js'
import { type ListSizes, paged } from './pages.js'
import type { SeededRandom } from './random.js'
import { withSources } from './reference-sources.js'
import type { Table, TableView } from './table.js'

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
  readonly undecided?: string
  sample(context: SampleContext): Record<string, unknown> | null
  run(args: Record<string, unknown>, context: ToolContext): Record<string, unknown>
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
  const { name, tables, entities, failures, lockout, tools, domainRules } = spec
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
  const broken = domainRules && domainRulesDefect(domainRules, tools)
  if (broken) defect(broken)
}
