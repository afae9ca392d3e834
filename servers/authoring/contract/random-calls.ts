import { z } from 'zod'
import {
  type Environment,
  meaningOf,
  type SeededRandom,
  type Session,
  type ToolDefinition,
} from '../../kernel/index.js'

/** Makes up to `steps` sampled calls, so that checks do not start from the seed state only. */
export function walk(session: Session, environment: Environment, random: SeededRandom, steps: number): void {
  for (let step = 0; step < steps; step++) {
    const tool = random.pick(environment.tools)
    const args = session.sampleArguments(tool, random, {})
    if (args) session.call(tool.name, args)
  }
}

/** Draws arguments, mostly of the right shape, with values from the whole environment: existing keys that do not fit, words, extremes. */
export function scramble(session: Session, tool: ToolDefinition, random: SeededRandom): Record<string, unknown> {
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
    const { entities, tables } = session.seedState.environment
    const table = entities[entity]?.table
    const rows = table === undefined ? [] : session.db[table]!.list()
    if (rows.length > 0) return random.pick(rows)[tables[table!]!.key]
  }
  if (schema instanceof z.ZodEnum) return random.pick(schema.options)
  if (schema instanceof z.ZodBoolean) return random.chance(0.5)
  if (schema instanceof z.ZodNumber) return random.pick([0, 1, random.int(2, 60), random.int(60, 3000), 1_000_000])
  if (schema instanceof z.ZodArray)
    return Array.from({ length: random.int(1, 3) }, () => anyValue(session, schema.element as z.ZodType, random))
  const row = random.pick(Object.values(session.db)).list().at(random.int(0, 9)) ?? {}
  const words = Object.values(row).filter((value): value is string => typeof value === 'string' && value !== '')
  return random.pick([...words, '2026-03-09', '2025-01-31', '2061-07-04', '14:30', 'nothing like this'])
}
