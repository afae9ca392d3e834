import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import canonicalize from 'canonicalize'
import { z } from 'zod'
import type {
  Db,
  DbView,
  SampleContext,
  ServerDefinition,
  Tables,
  ToolContext,
  ToolDefinition,
} from './define-server.js'
import { CallRefusal, DomainError, WorldDefect } from './errors.js'
import { deriveSeed, type SeededRandom, seededRandom } from './random.js'
import { OverlayTable, type Row } from './table.js'

/** Virtual time at which every session begins. A Monday morning, so that "this week" lies ahead. */
export const SESSION_START = '2026-03-02T09:00:00Z'
const TICK_MS = 60_000

export type CallResult =
  | { readonly ok: true; readonly output: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly code: string; readonly message: string }

/** The frozen start state of one server under one seed; shared by all its sessions. */
export interface SeedWorld {
  readonly server: ServerDefinition
  readonly seed: number
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, Row>>
}

/**
 * Generates the start state of a world: the expensive part of opening a session, so cache it.
 * @throws WorldDefect when a row does not fit its schema or a key occurs twice
 */
export function generateWorld(server: ServerDefinition, seed: number): SeedWorld {
  const rows = server.seed({ random: seededRandom(deriveSeed(server.name, 'world', seed)), start: SESSION_START })
  const tables = new Map<string, ReadonlyMap<string, Row>>()
  for (const [name, spec] of Object.entries(server.tables)) {
    const table = new Map<string, Row>()
    for (const row of rows[name] ?? []) {
      const parsed = spec.row.safeParse(row)
      if (!parsed.success)
        throw new WorldDefect(server.name, `seed ${seed}, table ${name}: ${z.prettifyError(parsed.error)}`)
      const key = String(parsed.data[spec.key])
      if (table.has(key)) throw new WorldDefect(server.name, `seed ${seed}, table ${name}: key ${key} occurs twice`)
      table.set(key, deepFreeze(parsed.data))
    }
    tables.set(name, table)
  }
  return { server, seed, tables }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) deepFreeze(part)
  }
  return value
}

/** One isolated state of a world, with its own clock, key counters and random stream. */
export class Session {
  readonly world: SeedWorld
  readonly #tables: Map<string, OverlayTable>
  #counters: Map<string, number>
  #ticks: number
  #calls: number

  private constructor(
    world: SeedWorld,
    tables: Map<string, OverlayTable>,
    counters: Map<string, number>,
    ticks: number,
    calls: number,
  ) {
    this.world = world
    this.#tables = tables
    this.#counters = counters
    this.#ticks = ticks
    this.#calls = calls
  }

  static open(world: SeedWorld): Session {
    const tables = new Map<string, OverlayTable>()
    for (const [name, rows] of world.tables) tables.set(name, new OverlayTable(world.server.tables[name]!.key, rows))
    return new Session(world, tables, new Map(), 0, 0)
  }

  /** An independent copy in the same state. */
  fork(): Session {
    const tables = new Map([...this.#tables].map(([name, table]) => [name, table.fork()]))
    return new Session(this.world, tables, new Map(this.#counters), this.#ticks, this.#calls)
  }

  /** The tables, read-only: for samplers and invariants. */
  get db(): DbView<Tables> {
    return Object.fromEntries(this.#tables) as unknown as DbView<Tables>
  }

  now(): string {
    return new Date(Date.parse(SESSION_START) + this.#ticks * TICK_MS).toISOString().replace('.000Z', 'Z')
  }

  /**
   * Executes one tool call as a transaction: a call that does not succeed has changed nothing.
   * @throws WorldDefect when the world itself is broken (a handler threw something else than a domain failure, or its
   *   output does not fit its schema); the state is then as before the call
   */
  call(name: string, args: unknown): CallResult {
    const tool = this.world.server.toolsByName.get(name)
    if (!tool) return failure(new CallRefusal('unknown_tool', `There is no tool called ${name}.`))
    const parsed = tool.input.safeParse(args)
    if (!parsed.success) return failure(new CallRefusal('invalid_arguments', describeIssues(parsed.error)))
    const counters = new Map(this.#counters)
    try {
      const output = tool.output.parse(tool.run(parsed.data, this.#context(tool)))
      for (const table of this.#tables.values()) table.commit()
      if (!tool.annotations.readOnly) this.#ticks++
      this.#calls++
      return { ok: true, output }
    } catch (cause) {
      for (const table of this.#tables.values()) table.rollback()
      this.#counters = counters
      if (cause instanceof DomainError) return failure(cause)
      throw new WorldDefect(
        this.world.server.name,
        `${name} with ${JSON.stringify(args)}: ${(cause as Error).message}`,
        { cause },
      )
    }
  }

  /** Arguments that `tool` could be called with in this state, chosen by `random`; see `ToolSpec.sample`. */
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
   * SHA-256 (hex) of the seed's identity and of every row that differs from the seed. The clock, key counters and the
   * order of calls do not enter: two routes to the same state have the same hash.
   */
  stateHash(): string {
    const changed: Record<string, unknown> = {}
    for (const [name, table] of this.#tables) {
      const rows = table.changes(isDeepStrictEqual)
      if (rows.length > 0) changed[name] = Object.fromEntries(rows)
    }
    const state = { server: this.world.server.name, seed: this.world.seed, changed }
    return createHash('sha256').update(canonicalize(state)!).digest('hex')
  }

  /** What the world's invariants find wrong with this state; empty when all hold and every row fits its schema. */
  violations(): string[] {
    const { server } = this.world
    const seed = Session.open(this.world).db
    const broken = server.invariants.flatMap((invariant) => {
      const { name } = invariant
      const problem = invariant.check(this.db, seed)
      return problem === undefined ? [] : [`${name}: ${problem}`]
    })
    for (const [name, { row }] of Object.entries(server.tables)) {
      for (const value of this.#tables.get(name)!.list()) {
        const parsed = row.safeParse(value)
        if (!parsed.success) broken.push(`row of ${name} does not fit: ${z.prettifyError(parsed.error)}`)
      }
    }
    return broken
  }

  #context(tool: ToolDefinition): ToolContext {
    const { server, seed } = this.world
    let random: SeededRandom | undefined
    const calls = this.#calls
    return {
      db: Object.fromEntries(this.#tables) as unknown as Db<Tables>,
      now: () => this.now(),
      today: () => this.now().slice(0, 10),
      nextId: (prefix) => {
        const first = 100 + (deriveSeed(server.name, seed, 'first key', prefix) % 800)
        const used = this.#counters.get(prefix) ?? 0
        this.#counters.set(prefix, used + 1)
        return `${prefix}-${first + used}`
      },
      get random() {
        random ??= seededRandom(deriveSeed(server.name, seed, 'call', calls, tool.name))
        return random
      },
      fail: (code, detail) => {
        const standard = server.failures[code]
        if (standard === undefined) throw new Error(`undeclared failure code ${code}`)
        throw new DomainError(code, detail ?? standard)
      },
    }
  }
}

const failure = ({ code, message }: DomainError | CallRefusal): CallResult => ({ ok: false, code, message })

function describeIssues(error: z.ZodError): string {
  return error.issues.map((issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`).join('; ')
}
