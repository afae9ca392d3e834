import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import type { ServerDefinition, ToolDefinition } from '../../servers/kernel/define-server.js'
import { entityKinds, meaningOf, requiredReferences } from '../../servers/kernel/fields.js'
import { PAGE } from '../../servers/kernel/lists.js'
import { deriveSeed, type SeededRandom, seededRandom } from '../../servers/kernel/random.js'
import { generateWorld, Session } from '../../servers/kernel/session.js'

/** Brings a session to where the returned call (tool, arguments) must fail. */
export type Provocation = (session: Session) => readonly [tool: string, args: Record<string, unknown>]

export interface ContractOptions {
  readonly toolCount: number
  /** One per failure code of the world, none more. */
  readonly provoke: Readonly<Record<string, Provocation>>
  /** Least share of sampled calls that succeed, per tool. Default 0.9. */
  readonly sampleFloor?: number
  /** Longest result of a sampled call, in characters of JSON. Default 520, about 60 words. */
  readonly maxResultChars?: number
  /** Seed of the world in which failures are provoked. Default 1. */
  readonly provokeSeed?: number
}

const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1)
/** Worlds that are only begun. Some combination of chances may break one start in a thousand. */
const STARTS = 500
const LONG_CALLS = 10_000

/** Registers and runs, as a suite of its own, what must hold for every world. */
export function checkWorldContract(server: ServerDefinition, options: ContractOptions): void {
  const { toolCount, provoke, sampleFloor = 0.9, maxResultChars = 520, provokeSeed = 1 } = options
  const test = suite(`the ${server.name} world`)
  const worlds = SEEDS.map((seed) => generateWorld(server, seed))
  const open = (index: number) => Session.open(worlds[index % worlds.length]!)

  test('declares the agreed number of tools, at least 8 failures and 4 invariants', () => {
    assert.is(server.tools.length, toolCount)
    assert.ok(Object.keys(server.failures).length >= 8, 'fewer than 8 failure codes')
    assert.ok(server.invariants.length >= 4, 'fewer than 4 invariants')
  })

  test('can be asked for every tool in several ways that carry every argument', () => {
    for (const tool of server.tools) {
      assert.ok(tool.ask.length >= 3, `${tool.name} has fewer than 3 clauses`)
      assert.is(new Set(tool.ask).size, tool.ask.length, `${tool.name} repeats a clause`)
      for (const clause of tool.ask) {
        assert.match(clause, /^[a-z]/, `${tool.name}: "${clause}" does not begin in lower case`)
        assert.not.match(clause, /[.!?]$/, `${tool.name}: "${clause}" ends a sentence`)
      }
      for (const [field, schema] of Object.entries(tool.input.shape)) {
        if (!(schema as z.ZodType).isOptional()) continue
        const optional = new RegExp(`\\[[^\\]]*\\{${field}\\}[^\\]]*\\]`)
        assert.ok(
          tool.ask.some((clause) => optional.test(clause)),
          `${tool.name}: no clause can carry the optional {${field}}`,
        )
      }
    }
  })

  test('produces every entity and fact that one of its tools consumes', () => {
    const produced = (entity: string, consumer: ToolDefinition) =>
      server.tools.some((tool) => tool !== consumer && entityKinds(tool.output).has(entity))
    for (const tool of server.tools) {
      for (const [field, entity] of requiredReferences(tool.input)) {
        assert.ok(server.entities[entity], `${tool.name}.${field} refers to the undeclared entity ${entity}`)
        assert.ok(produced(entity, tool), `no other tool produces the ${entity} that ${tool.name}.${field} needs`)
      }
      for (const fact of tool.needs ?? []) {
        const source = server.tools.some((other) => other !== tool && other.establishes?.includes(fact))
        assert.ok(source, `no other tool establishes ${fact}, which ${tool.name} needs`)
      }
    }
  })

  test('starts the same for the same seed, differently for another, and sound for all', () => {
    const rows = (seed: number) => JSON.stringify([...generateWorld(server, seed).tables.values()].map((t) => t.rows))
    assert.is(rows(7), rows(7))
    assert.is.not(rows(7), rows(8))
    for (const index of SEEDS.keys()) assert.equal(open(index).violations(), [])
    for (let seed = 100; seed < 100 + STARTS; seed++)
      assert.equal(Session.open(generateWorld(server, seed)).violations(), [], `seed ${seed}`)
  })

  test('offers sampled arguments that nearly always succeed, with short results', () => {
    const tally = new Map(server.tools.map((tool) => [tool.name, { drawn: 0, succeeded: 0, last: '' }]))
    for (const index of SEEDS.keys()) {
      const random = seededRandom(deriveSeed('samples', index))
      const session = open(index)
      walk(session, server, random, 8)
      for (const tool of server.tools) {
        for (let draw = 0; draw < 5; draw++) {
          const args = session.sampleArguments(tool, random, {})
          if (!args) continue
          assert.ok(tool.input.safeParse(args).success, `${tool.name} sampled ill-formed ${JSON.stringify(args)}`)
          const counts = tally.get(tool.name)!
          counts.drawn++
          const result = session.fork().call(tool.name, args)
          if (!result.ok) {
            counts.last = `${JSON.stringify(args)} -> ${result.code}: ${result.message}`
            continue
          }
          counts.succeeded++
          const text = JSON.stringify(result.output)
          assert.ok(text.length <= maxResultChars, `${tool.name} answers at length (${text.length}): ${text}`)
          for (const value of Object.values(result.output)) {
            if (Array.isArray(value))
              assert.ok(value.length <= PAGE.short, `${tool.name} lists ${value.length} entries`)
          }
        }
      }
    }
    for (const [name, { drawn, succeeded, last }] of tally) {
      assert.ok(drawn > 0, `${name} never found anything to sample`)
      assert.ok(succeeded >= sampleFloor * drawn, `${name}: ${succeeded} of ${drawn} succeeded, last failure ${last}`)
    }
  })

  test('keeps a bound reference when it samples the other arguments', () => {
    const kept = new Map<string, number>()
    const failed: string[] = []
    for (const index of SEEDS.keys()) {
      const random = seededRandom(deriveSeed('bound', index))
      const session = open(index)
      for (const tool of server.tools) {
        for (const field of requiredReferences(tool.input).keys()) {
          kept.set(`${tool.name}.${field}`, kept.get(`${tool.name}.${field}`) ?? 0)
          const free = session.sampleArguments(tool, random, {})
          if (!free) continue
          const fixed = session.sampleArguments(tool, random, { [field]: free[field] })
          if (!fixed) continue
          assert.equal(fixed[field], free[field], `${tool.name} replaced the bound ${field}`)
          const result = session.fork().call(tool.name, fixed)
          if (result.ok) kept.set(`${tool.name}.${field}`, kept.get(`${tool.name}.${field}`)! + 1)
          else failed.push(`${tool.name} ${JSON.stringify(fixed)} -> ${result.code}`)
        }
      }
    }
    for (const [field, times] of kept) assert.ok(times > 0, `no bound ${field} ever led to a call that succeeded`)
    const drawn = [...kept.values()].reduce((sum, times) => sum + times, failed.length)
    assert.ok(failed.length <= (1 - sampleFloor) * drawn, `${failed.length} of ${drawn} failed, such as ${failed[0]}`)
  })

  test('stays sound, transactional and reproducible over any sequence of calls', () => {
    fc.assert(
      fc.property(fc.nat({ max: 19 }), fc.array(fc.integer(), { minLength: 1, maxLength: 12 }), (index, steps) => {
        const session = open(index)
        const made: [string, Record<string, unknown>, string][] = []
        for (const step of steps) {
          const random = seededRandom(step)
          const tool = random.pick(server.tools)
          const args =
            (random.chance(0.5) && session.sampleArguments(tool, random, {})) || scramble(session, tool, random)
          const before = session.stateHash()
          const apart = session.fork()
          const result = session.call(tool.name, args)
          const told = JSON.stringify(result)
          const after = session.stateHash()
          const call = `${tool.name} ${JSON.stringify(args)}`
          assert.is(apart.stateHash(), before, `${call} changed a fork`)
          assert.is(JSON.stringify(apart.call(tool.name, args)), told, `${call} answers differently in a fork`)
          assert.is(session.stateHash(), after, `${call} in a fork changed the original`)
          if (!result.ok || tool.annotations.readOnly) assert.is(after, before, `${call} should have changed nothing`)
          else assert.equal(session.violations(), [], call)
          if (tool.annotations.idempotent && result.ok) {
            apart.call(tool.name, args)
            assert.is(apart.stateHash(), after, `${call} is called idempotent but a second call changed more`)
          }
          made.push([tool.name, args, told])
        }
        const again = open(index)
        for (const [name, args, told] of made) assert.is(JSON.stringify(again.call(name, args)), told)
        assert.is(again.stateHash(), session.stateHash())
      }),
      { numRuns: 40, seed: 20260302 },
    )
  })

  test('stays sound over 10,000 random calls, whose replay gives the same bytes', () => {
    const play = (inspect: boolean): string => {
      const bytes = createHash('sha256')
      for (const index of SEEDS.keys()) {
        const session = open(index)
        const random = seededRandom(deriveSeed('long', index))
        for (let step = 1; step <= LONG_CALLS / SEEDS.length; step++) {
          const tool = random.pick(server.tools)
          const sampled = random.chance(0.6) ? session.sampleArguments(tool, random, {}) : null
          const args = sampled ?? scramble(session, tool, random)
          bytes.update(JSON.stringify(session.call(tool.name, args)))
          if (inspect && step % 50 === 0) assert.equal(session.violations(), [], `${step} calls, last ${tool.name}`)
        }
        bytes.update(session.stateHash())
      }
      return bytes.digest('hex')
    }
    assert.is(play(true), play(false))
  })

  test('has a provocation for every failure code', () => {
    assert.equal(Object.keys(provoke).sort(), Object.keys(server.failures).sort())
  })

  for (const [code, provocation] of Object.entries(provoke)) {
    test(`fails with ${code} and leaves the state alone`, () => {
      const session = Session.open(generateWorld(server, provokeSeed))
      const [tool, args] = provocation(session)
      const before = session.stateHash()
      const result = session.call(tool, args)
      assert.is(result.ok ? JSON.stringify(result.output) : result.code, code)
      assert.is(session.stateHash(), before)
      assert.equal(session.violations(), [])
    })
  }

  test.run()
}

/** Makes up to `steps` sampled calls, so that what follows is not tried in a fresh world only. */
function walk(session: Session, server: ServerDefinition, random: SeededRandom, steps: number): void {
  for (let step = 0; step < steps; step++) {
    const tool = random.pick(server.tools)
    const args = session.sampleArguments(tool, random, {})
    if (args) session.call(tool.name, args)
  }
}

/** Arguments of the right shape, most of the time, with values from all over the world: keys that exist and do not fit, words, extremes. */
function scramble(session: Session, tool: ToolDefinition, random: SeededRandom): Record<string, unknown> {
  const base = session.sampleArguments(tool, random, {}) ?? {}
  const args: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(tool.input.shape)) {
    const field = schema as z.ZodType
    if (base[name] !== undefined && random.chance(0.6)) args[name] = base[name]
    else if (!field.isOptional() || random.chance(0.3)) args[name] = anyValue(session, field, random)
  }
  return args
}

function anyValue(session: Session, schema: z.ZodType, random: SeededRandom): unknown {
  if (schema instanceof z.ZodOptional) return anyValue(session, schema.unwrap() as z.ZodType, random)
  const { entity } = meaningOf(schema)
  if (entity !== undefined && random.chance(0.9)) {
    const { table } = session.world.server.entities[entity]!
    const rows = session.db[table]!.list()
    if (rows.length > 0) return random.pick(rows)[session.world.server.tables[table]!.key]
  }
  if (schema instanceof z.ZodEnum) return random.pick(schema.options)
  if (schema instanceof z.ZodBoolean) return random.chance(0.5)
  if (schema instanceof z.ZodNumber) return random.pick([0, 1, random.int(2, 60), random.int(60, 3000), 1_000_000])
  if (schema instanceof z.ZodArray)
    return Array.from({ length: random.int(1, 3) }, () => anyValue(session, schema.element as z.ZodType, random))
  const row = random.pick(Object.values(session.db)).list().at(random.int(0, 9)) ?? {}
  const words = Object.values(row).filter((value) => typeof value === 'string' && value !== '')
  return random.pick([...words, '2026-03-09', '2025-01-31', '14:30', 'nothing like this'])
}
