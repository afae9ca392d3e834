import type { z } from 'zod'
import { type DomainRules, domainRulesDefect } from './domain-rules.js'
import { EnvironmentDefect } from './errors.js'
import type { City } from './gazetteer.js'
import { type ListSizes, paged } from './pages.js'
import type { SeededRandom } from './random.js'
import { withSources } from './reference-sources.js'
import type { Table, TableView } from './table.js'

/** A table of an environment. `F`: the failure codes of the environment. */
export interface TableSpec<F extends string = string> {
  readonly row: z.ZodObject
  /** The field of `row` that holds the key, a string. */
  readonly key: string
  /** Failure of a call that names a missing row, see `ToolContext.rowOf`. Omit it where no call names a row of this table. */
  readonly missing?: F
}

/** The tables of an environment, by name. */
export type Tables<F extends string = string> = Readonly<Record<string, TableSpec<F>>>
/** Names of the tables that declare `missing`. */
export type TablesOfNamedRows<T extends Tables> = {
  [K in keyof T]: T[K] extends { readonly missing: string } ? K : never
}[keyof T]
/** A row of a table. */
export type RowOf<S extends TableSpec> = Readonly<z.output<S['row']>>
/** The tables of a session, as a running tool reads and writes them. */
export type Db<T extends Tables> = { readonly [K in keyof T]: Table<RowOf<T[K]>> }
/** The tables of a session, read-only. */
export type DbView<T extends Tables> = { readonly [K in keyof T]: TableView<RowOf<T[K]>> }
/** The rows of all tables at the start of a session. */
export type SeedRows<T extends Tables> = { readonly [K in keyof T]: readonly RowOf<T[K]>[] }

/**
 * A reason why the rules of an environment prevent a call. It consists of the failure of the call, and a `detail` with names and numbers
 * that replaces the standard message of the failure. Handlers and samplers share the functions that return an obstacle.
 */
export interface Obstacle<F extends string = string> {
  readonly code: F
  readonly detail?: string
}
/** The obstacles of an environment with these failures. */
export type ObstacleOf<Failures extends Readonly<Record<string, string>>> = Obstacle<keyof Failures & string>

/** The session as a running tool sees it. A tool uses nothing else: no wall clock, no `Math.random`, no file, no network. */
export interface ToolContext<T extends Tables = Tables, F extends string = string> {
  readonly db: Db<T>
  /** The session's virtual time, ISO 8601 in UTC to the second; it advances one minute per successful writing call. */
  now(): string
  /** The date of `now()`, YYYY-MM-DD. */
  today(): string
  /** A key that is new in this session, such as `transfer-418`. The same seed and calls give the same keys. */
  nextId(prefix: string): string
  readonly random: SeededRandom
  /** Ends the call with a domain failure and undoes everything that the call wrote. `detail` replaces the standard message of the code. */
  fail(code: F, detail?: string): never
  /** Ends the call with the failure of the obstacle, if there is one. */
  unless(obstacle: Obstacle<F> | undefined): void
  /** Returns the row of this key, or ends the call with the failure that the table declares as `missing`. */
  rowOf<K extends TablesOfNamedRows<T>>(table: K, key: string): RowOf<T[K]>
}

/** Everything that a sampler of arguments may read. */
export interface SampleContext<T extends Tables = Tables, A = Record<string, unknown>> {
  readonly db: DbView<T>
  readonly random: SeededRandom
  /** Arguments that an earlier call of the chain has fixed. The sampler keeps them and chooses the others to fit. */
  readonly bound: Partial<A>
  now(): string
  today(): string
}

/**
 * Protection of secrets against guessing. After `attempts` wrong secrets in a row for one row, the session rejects every further secret for the
 * row, even the right one. The session counts the attempts, because a failed call does not change the tables.
 */
export interface Lockout {
  readonly attempts: number
  /** Failure of a call with a wrong secret. */
  readonly wrong: string
  /** Failure of every call with a secret after that. */
  readonly locked: string
}

/** Hints about the effect of a tool, as in MCP. */
export interface ToolAnnotations {
  /** Changes nothing. */
  readonly readOnly: boolean
  /** Deletes or overwrites something a user would miss. Default false. */
  readonly destructive?: boolean
  /** A second call with the same arguments changes nothing more. Default: `readOnly`. */
  readonly idempotent?: boolean
}

/** A tool, as its author writes it. How users ask for the tool is in the environment's `speech.yaml`. */
export interface ToolSpec<T extends Tables, F extends string, I extends z.ZodObject, O extends z.ZodObject> {
  readonly name: string
  readonly description: string
  /** A `z.strictObject`, which rejects undeclared keys. */
  readonly input: I
  readonly output: O
  /**
   * Lists at the top of the output that are shown in pages, with the size of a page. `run` returns all entries. The kernel cuts them into pages,
   * adds the optional argument `page`, and returns `next_page` if another page follows.
   */
  readonly pages?: ListSizes<z.input<O>>
  readonly annotations: ToolAnnotations
  /** Facts that are true after the call, such as `card_frozen`. They make an implicit edge to every tool that `needs` one of them. */
  readonly establishes?: readonly string[]
  /** Facts that must be true for the call to make sense. */
  readonly needs?: readonly string[]
  /** Set by `undecided(…)` only: the question that the author has not answered yet. */
  readonly undecided?: string
  /** Draws plausible arguments from the live state, or returns `null` if the state offers none. Calls with them should usually succeed. */
  sample(context: SampleContext<T, z.input<I>>): (z.input<I> & { readonly page?: number }) | null
  /** Executes the call. */
  run(args: z.output<I>, context: ToolContext<T, F>): z.input<O>
}

/** A tool without the types of its environment, as the kernel uses it. */
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

/** Words for an entity. */
export interface EntitySpec {
  /** Singular, lower case: `account`, `calendar event`. */
  readonly noun: string
  /** The table whose keys are this entity's keys. */
  readonly table: string
  /** Field of the row by which a user names an entity, shown next to the key in results: `title`, `name`. */
  readonly label?: string
  /** Users name it by its key, like an issue number. They may name one that no result has shown. */
  readonly sayable?: boolean
  /** Users put an article before its key or label: `the living room`, `the Balcony Light`. */
  readonly article?: boolean
  /**
   * Fields of the rows of a result by which users tell such entities apart: `{ price: 'lowest' }` for "the cheapest one". `either` stands for
   * the lowest and the highest value.
   */
  readonly compared?: Readonly<Record<string, 'lowest' | 'highest' | 'either'>>
}

/** Everything that the seed function of an environment may use. */
export interface SeedContext {
  readonly random: SeededRandom
  /** Virtual time at which sessions begin, ISO 8601 UTC. */
  readonly start: string
  /** City of the user, the same in all environments of one seed. */
  readonly home: City
}

/** A condition that is true in every reachable state. `check` returns a description of the violation, or `undefined`. */
export interface Invariant<T extends Tables> {
  readonly name: string
  check(now: DbView<T>, seed: DbView<T>): string | undefined
}

/** An environment, as its author writes it. */
export interface EnvironmentSpec<T extends Tables> {
  /** snake_case; also the name of the MCP server. */
  readonly name: string
  readonly title: string
  readonly description: string
  readonly tables: T
  readonly entities: Readonly<Record<string, EntitySpec>>
  /** Stable failure codes with their standard messages. */
  readonly failures: Readonly<Record<string, string>>
  /** Required where a call takes a secret of a few digits. */
  readonly lockout?: Lockout
  readonly tools: readonly ToolDefinition[]
  readonly invariants: readonly Invariant<T>[]
  /** Rules that an assistant must follow in tasks with domain rules. */
  readonly domainRules?: DomainRules<DbView<T>>
  /** Its calls send a car somewhere. They do not follow a search for a route without a car. */
  readonly drives?: true
  /** Makes the rows at the start of a session: many and varied, and the same for the same seed on every machine. */
  seed(context: SeedContext): SeedRows<T>
}

/** An environment without the types of its tables, as the kernel, the catalogue and task synthesis use it. */
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
  /** SHA-256 of the code, for an environment from outside this package only: the version of the program identifies the others. */
  readonly codeSha256?: string
  seed(context: SeedContext): Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
}

/**
 * Returns the function that declares the tools of one environment, with handlers typed by its tables and failure codes. Declare the tables
 * `as const`: a `missing` that is not a failure code then does not compile.
 */
export function toolMaker<F extends string, T extends Tables<F>>(_tables: T, _failures: Readonly<Record<F, string>>) {
  return <I extends z.ZodObject, O extends z.ZodObject>(spec: ToolSpec<T, F, I, O>): ToolDefinition => {
    const tool = spec as unknown as ToolDefinition
    return tool.pages ? paged(tool, tool.pages) : tool
  }
}

/** Pattern of the names of environments, tools, failures and domain rules. */
export const SNAKE_CASE = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/

/**
 * Declares an environment.
 * @throws EnvironmentDefect if the declaration contradicts itself. Such defects are a name that is not snake_case, two tools of one name,
 *   and a table without its key field. Others are an unknown failure code in a table or lockout, and an entity without a table. A domain
 *   rule about an unknown tool or argument is a defect too
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
    if (!SNAKE_CASE.test(word))
      defect(`the name "${word}" is not snake_case; write lower case letters and digits, joined by _`)
  }
  for (const [table, { row, key, missing }] of Object.entries(tables)) {
    if (!row.shape[key])
      defect(`table ${table}: the rows have no field "${key}", which is the key; add the field or change \`key\``)
    if (missing !== undefined && failures[missing] === undefined) {
      defect(`table ${table}: \`missing\` names "${missing}", which is not among the failures; declare the failure`)
    }
  }
  for (const [entity, { table }] of Object.entries(entities)) {
    if (!tables[table]) defect(`entity ${entity}: there is no table "${table}"; declare the table or change \`table\``)
  }
  for (const code of lockout ? [lockout.wrong, lockout.locked] : []) {
    if (failures[code] === undefined) defect(`lockout: "${code}" is not among the failures; declare the failure`)
  }
  if (new Set(tools.map((tool) => tool.name)).size !== tools.length)
    defect('two tools have the same name; rename one of them')
  const broken = domainRules && domainRulesDefect(domainRules, tools)
  if (broken) defect(broken)
}
