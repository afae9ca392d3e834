import { hash } from 'node:crypto'
import { z } from 'zod'
import type {
  Db,
  DbView,
  Environment,
  SampleContext,
  Tables,
  ToolContext,
  ToolDefinition,
} from './define-environment.js'
import { type CallRefusalCode, DomainFailure, EnvironmentDefect } from './errors.js'
import { meaningOf } from './fields.js'
import { homeOf } from './gazetteer.js'
import { KeyCounters } from './key-counters.js'
import { deriveSeed, type SeededRandom, seededRandom } from './random.js'
import { quoted } from './row-text.js'
import { deepFreeze, SeedTable } from './seed-table.js'
import { OverlayTable, UndoLog } from './table.js'

/** Virtual time at which every session begins: a Monday morning, so that all days of "this week" are still to come. */
export const SESSION_START = '2026-03-02T09:00:00Z'
const START_MS = Date.parse(SESSION_START)
const TICK_MS = 60_000

export type CallResult =
  | { readonly ok: true; readonly output: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly code: string; readonly message: string }

/** Frozen start state of one environment under one seed. All sessions of the seed share it. */
export interface SeedState {
  readonly environment: Environment
  readonly seed: number
  readonly tables: ReadonlyMap<string, SeedTable>
  /** In alphabetical order. */
  readonly tableNames: readonly string[]
  /** Number in the first key that a session makes, by the prefix of the key. */
  firstKey(prefix: string): number
}

/**
 * Generates the start state of an environment. This is the expensive part of opening a session, so callers cache it.
 * @throws EnvironmentDefect if a row does not fit its schema or a key occurs twice
 */
export function generateSeedState(environment: Environment, seed: number): SeedState {
  const rows = environment.seed({
    random: seededRandom(deriveSeed(environment.name, 'world', seed)),
    start: SESSION_START,
    home: homeOf(seed),
  })
  const tables = new Map<string, SeedTable>()
  for (const [name, spec] of Object.entries(environment.tables)) {
    const defect = (problem: string) =>
      new EnvironmentDefect(environment.name, `seed ${seed}, table ${name}: ${problem}`)
    const frozen = (rows[name] ?? []).map((row) => {
      const parsed = spec.row.safeParse(row)
      if (!parsed.success) throw defect(z.prettifyError(parsed.error))
      return deepFreeze(parsed.data)
    })
    try {
      tables.set(name, new SeedTable(spec.key, frozen))
    } catch (cause) {
      throw defect((cause as Error).message)
    }
  }
  const firstKeys = new Map<string, number>()
  return {
    environment,
    seed,
    tables,
    tableNames: [...tables.keys()].sort(),
    firstKey(prefix) {
      const known = firstKeys.get(prefix)
      if (known !== undefined) return known
      const first = 100 + (deriveSeed(environment.name, seed, 'first key', prefix) % 800)
      firstKeys.set(prefix, first)
      return first
    },
  }
}

/** One isolated state of an environment, with its own clock, key counters and random stream. */
export class Session {
  readonly seedState: SeedState
  readonly #log = new UndoLog()
  readonly #tables = new Map<string, OverlayTable>()
  readonly #counters: KeyCounters
  /** Number of wrong secrets in a row, by the row that they were given for. */
  #wrongSecrets: Map<string, number> | undefined
  #ticks: number
  #calls: number
  /** The tables by name, for handlers and samplers. */
  readonly #db: Record<string, OverlayTable> = {}
  #context: ToolContext | undefined
  #random: SeededRandom | undefined
  #running: ToolDefinition | undefined

  private constructor(seedState: SeedState, from?: Session) {
    this.seedState = seedState
    for (const [name, seed] of seedState.tables) {
      const table = from ? from.#tables.get(name)!.fork(this.#log) : new OverlayTable(seed, this.#log)
      this.#tables.set(name, table)
      this.#db[name] = table
    }
    this.#counters = new KeyCounters(from ? from.#counters : undefined)
    const counted = from ? from.#wrongSecrets : undefined
    if (counted) this.#wrongSecrets = new Map(counted)
    this.#ticks = from ? from.#ticks : 0
    this.#calls = from ? from.#calls : 0
  }

  static open(seedState: SeedState): Session {
    return new Session(seedState)
  }

  /** Returns an independent copy in the same state. */
  fork(): Session {
    return new Session(this.seedState, this)
  }

  /** The tables, read-only: for samplers and invariants. */
  get db(): DbView<Tables> {
    return this.#db as unknown as DbView<Tables>
  }

  now(): string {
    return TIMES[this.#ticks] ?? timeAfter(this.#ticks)
  }

  /**
   * Executes one tool call as a transaction. A failed call changes nothing, but the session counts wrong secrets (`Lockout`).
   * @throws EnvironmentDefect if a handler threw anything but a domain failure, or its output does not fit its schema. The state is then
   *   the same as before the call
   */
  call(name: string, args: unknown): CallResult {
    const tool = this.seedState.environment.toolsByName.get(name)
    if (!tool) return callRefused('unknown_tool', `There is no tool called ${name}.`)
    const parsed = tool.input.safeParse(args)
    if (!parsed.success) return callRefused('invalid_arguments', describeIssues(parsed.error))
    const { lockout } = this.seedState.environment
    const secret = lockout && secretSubject(tool, parsed.data)
    if (secret !== undefined && (this.#wrongSecrets?.get(secret) ?? 0) >= lockout!.attempts)
      return { ok: false, code: lockout!.locked, message: this.seedState.environment.failures[lockout!.locked]! }
    this.#random = undefined
    this.#running = tool
    try {
      const output = tool.output.parse(tool.run(parsed.data, this.#toolContext()))
      this.#log.commit()
      this.#counters.commit()
      if (!tool.annotations.readOnly) this.#ticks++
      this.#calls++
      if (secret !== undefined) this.#wrongSecrets?.delete(secret)
      return { ok: true, output }
    } catch (cause) {
      this.#log.rollback()
      this.#counters.rollback()
      if (cause instanceof DomainFailure) {
        if (secret !== undefined && cause.code === lockout!.wrong) {
          this.#wrongSecrets ??= new Map()
          this.#wrongSecrets.set(secret, (this.#wrongSecrets.get(secret) ?? 0) + 1)
        }
        return { ok: false, code: cause.code, message: cause.message }
      }
      throw new EnvironmentDefect(
        this.seedState.environment.name,
        `${name} with ${JSON.stringify(args)}: ${(cause as Error).message}`,
        { cause },
      )
    }
  }

  /** Samples arguments of a tool in this state, see `ToolSpec.sample`. */
  sampleArguments(
    tool: ToolDefinition,
    random: SeededRandom,
    bound: Record<string, unknown>,
  ): Record<string, unknown> | null {
    const context: SampleContext = {
      db: this.db,
      random,
      bound,
      now: () => this.now(),
      today: () => this.now().slice(0, 10),
    }
    return tool.sample(context)
  }

  /**
   * Returns the SHA-256 (hex) of the seed's identity and of every row that differs from the seed, as canonical JSON (RFC 8785). It does not cover the
   * clock, key counters, wrong secrets and the order of calls: two paths to the same state have the same hash.
   */
  stateHash(): string {
    const changed: string[] = []
    for (const name of this.seedState.tableNames) {
      const rows = this.#tables.get(name)!.changesText()
      if (rows !== '') changed.push(`${quoted(name)}:${rows}`)
    }
    const { environment, seed } = this.seedState
    const state = `{"changed":{${changed.join(',')}},"environment":${quoted(environment.name)},"seed":${seed}}`
    return hash('sha256', state)
  }

  /** Returns the keys of the rows that differ from the seed, by table, including removed rows. */
  changedKeys(): ReadonlyMap<string, readonly string[]> {
    const tables = [...this.#tables].map(([name, table]) => [name, table.changes().map(([key]) => key)] as const)
    return new Map(tables.filter(([, keys]) => keys.length > 0))
  }

  /** Returns the violated invariants and the rows that do not fit their schema. */
  violations(): string[] {
    const { environment } = this.seedState
    const seed = Session.open(this.seedState).db
    const broken = environment.invariants.flatMap((invariant) => {
      const { name } = invariant
      const problem = invariant.check(this.db, seed)
      return problem === undefined ? [] : [`${name}: ${problem}`]
    })
    for (const [name, { row }] of Object.entries(environment.tables)) {
      for (const value of this.#tables.get(name)!.list()) {
        const parsed = row.safeParse(value)
        if (!parsed.success) broken.push(`row of ${name} does not fit: ${z.prettifyError(parsed.error)}`)
      }
    }
    return broken
  }

  /** One object for all calls of the session: making it for each call took a third of the time of a cheap call. */
  #toolContext(): ToolContext {
    if (this.#context) return this.#context
    const { environment, seed } = this.seedState
    const random = (): SeededRandom => {
      this.#random ??= seededRandom(deriveSeed(environment.name, seed, 'call', this.#calls, this.#running!.name))
      return this.#random
    }
    const fail = (code: string, detail?: string): never => {
      const standard = environment.failures[code]
      if (standard === undefined) throw new Error(`undeclared failure code ${code}`)
      throw new DomainFailure(code, detail ?? standard)
    }
    this.#context = {
      db: this.#db as unknown as Db<Tables>,
      now: () => this.now(),
      today: () => this.now().slice(0, 10),
      nextId: (prefix) => `${prefix}-${this.seedState.firstKey(prefix) + this.#counters.next(prefix)}`,
      get random() {
        return random()
      },
      fail,
      unless: (obstacle) => {
        if (obstacle) fail(obstacle.code, obstacle.detail)
      },
      rowOf: (table: string, key: string) =>
        this.#db[table]!.get(key) ??
        fail(environment.tables[table]!.missing!, `There is no ${nounOf(environment, table)} ${key}.`),
    }
    return this.#context
  }
}

/** Returns an id of the rows that a call gives a secret for, or of its tool if it names none. Returns `undefined` for a call without a secret. */
function secretSubject({ name, input }: ToolDefinition, args: Readonly<Record<string, unknown>>): string | undefined {
  const fields = Object.entries(input.shape).map(([field, schema]) => ({ value: args[field], ...meaningOf(schema) }))
  if (!fields.some(({ sensitive, value }) => sensitive && value !== undefined)) return undefined
  const things = fields.flatMap(({ entity, sensitive, value }) => (entity === undefined || sensitive ? [] : [value]))
  return [name, ...things].join(' ')
}

/** Returns the noun for a row of a table: the noun of the entity with the name of the key, or the name of the key. */
function nounOf({ entities, tables }: Environment, table: string): string {
  const { key } = tables[table]!
  const entity = entities[key]
  return entity?.table === table ? entity.noun : key.replaceAll('_', ' ')
}

/** Times of the first minutes after the start: making one takes as long as half a call. */
const TIMES = Array.from({ length: 240 }, (_, ticks) => timeAfter(ticks))

function timeAfter(ticks: number): string {
  return new Date(START_MS + ticks * TICK_MS).toISOString().replace('.000Z', 'Z')
}

/** Returns the JSON that a policy reads after a call: the output, or `{"error":code,"message":...}`. */
export const responseText = (result: CallResult): string =>
  JSON.stringify(result.ok ? result.output : { error: result.code, message: result.message })

/** A call that was not executed: the tool is unknown, or the arguments do not fit its input schema. */
export const callRefused = (code: CallRefusalCode, message: string): CallResult => ({ ok: false, code, message })

function describeIssues(error: z.ZodError): string {
  return error.issues.map((issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`).join('; ')
}
