import {
  type EntityOccurrence,
  type Environment,
  isExcerpt,
  meaningOf,
  type ToolDefinition,
} from '../../../servers/kernel/index.js'
import { elementOf } from '../../../servers/kernel/tool-graph.js'
import { itemAt } from '../item-at.js'
import { oncePer } from '../once-per.js'
import type { Way } from '../way.js'
import { entitiesOfKind, entitiesShown } from './entities-shown.js'

/** One earlier result, as references look at it. */
export interface Result {
  readonly environment: Environment
  readonly tool: ToolDefinition
  readonly args: Readonly<Record<string, unknown>>
  readonly output: Readonly<Record<string, unknown>>
}

/**
 * Returns every way to mean `key` of kind `entity` by `result`.
 * @param trueLabel  the entity's label in the environment. A result may show several entities next to one name, which is only
 *   that of one of them
 */
export function waysToRefer(result: Result, entity: string, key: string, trueLabel: unknown): readonly Way[] {
  const known = waysIn(result)
  const name = `${entity} ${key} ${trueLabel}`
  let ways = known.get(name)
  if (!ways) {
    ways = findWays(result, entity, key, trueLabel)
    known.set(name, ways)
  }
  return ways
}

const waysIn = oncePer((_: Result) => new Map<string, readonly Way[]>())

function findWays(result: Result, entity: string, key: string, trueLabel: unknown): Way[] {
  const found = entitiesOfKind(result, entity)
  const spec = result.environment.entities[entity]
  const { noun, label, compared = {} } = spec ?? { noun: entity.replaceAll('_', ' ') }
  const at = found.findIndex((occurrence) => occurrence.key === key)
  if (at < 0) return []
  const isList = isOneList(result, found)
  const goesOn = isExcerpt(result.args, result.output, found.length)
  const placed: Way[] = isList ? [{ how: 'place', noun, place: at + 1, of: goesOn ? undefined : found.length }] : []
  const ways: Way[] = found.length === 1 ? [{ how: 'only', noun }] : placed
  const named = label === undefined ? undefined : itemAt(found, at).within[label]
  const namesakes = found.filter(({ within }) => label !== undefined && within[label] === named)
  if (
    typeof named === 'string' &&
    named === trueLabel &&
    named !== key &&
    namesakes.length === 1 &&
    !isCopyOf(named, result)
  )
    ways.push({ how: 'label', noun, label: named })
  if (found.length === 1 || !isList || goesOn || !isOwn(result, itemAt(found, at))) return ways
  for (const [field, value] of Object.entries(itemAt(found, at).within)) {
    const most = compared[field]
    if (
      most === undefined ||
      !isOrdered(value) ||
      field === label ||
      found.some(({ within }) => typeof within[field] !== typeof value) ||
      (isTimeOfDay(value) && areOfSeveralDays(found))
    )
      continue
    const others = found.filter((_, i) => i !== at).map(({ within }) => within[field] as number | string)
    if (most !== 'highest' && others.every((other) => other > value))
      ways.push({ how: 'extreme', noun, field, most: 'lowest' })
    if (most !== 'lowest' && others.every((other) => other < value))
      ways.push({ how: 'extreme', noun, field, most: 'highest' })
  }
  return ways
}

/** Whether the call has copied something that goes by the same name still. */
const isCopyOf = (name: string, { tool, args }: Result): boolean =>
  tool.name.startsWith('copy_') &&
  Object.values(args).some((value) => typeof value === 'string' && value.split('/').at(-1) === name)

/** Whether the entities are the entries of one list of the result, one in each: otherwise they have no place in a list. */
function isOneList({ output }: Result, found: readonly EntityOccurrence[]): boolean {
  const rows = new Set(found.map(({ within }) => within))
  if (rows.size < found.length) return false
  return Object.values(output).some(
    (list) =>
      Array.isArray(list) &&
      list.length === found.length &&
      list.every((row) => rows.has(row as EntityOccurrence['within'])),
  )
}

/** Whether its row is about it: the post with the most likes is nobody's profile with the most likes. */
const isOwn = (result: Result, { entity, within }: EntityOccurrence): boolean =>
  entitiesShown(result).find((other) => other.within === within)?.entity === entity

const isOrdered = (value: unknown): value is number | string =>
  typeof value === 'number' || (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$|^\d{2}:\d{2}$/.test(value))

const isTimeOfDay = (value: unknown): boolean => typeof value === 'string' && /^\d{2}:\d{2}$/.test(value)

/** Of things on several days the one with the earliest time of day is not the earliest. */
const areOfSeveralDays = (found: readonly EntityOccurrence[]): boolean =>
  found.some(({ within }) =>
    Object.entries(within).some(
      ([field, value]) =>
        typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && value !== itemAt(found, 0).within[field],
    ),
  )

/** Cities, addresses and dates that a result states at its top, or of the only entry of a list. */
export function commonValuesIn({ tool, output }: Pick<Result, 'tool' | 'output'>, kind: string): string[] {
  const found: string[] = []
  for (const [field, schema] of Object.entries(tool.output.shape)) {
    const value = output[field]
    if (meaningOf(schema).common === kind && typeof value === 'string') found.push(value)
    const [entry, ...others] = Array.isArray(value) ? (value as Readonly<Record<string, unknown>>[]) : []
    const element = elementOf(schema)
    if (!element || !entry || others.length > 0 || output.next_page !== undefined) continue
    for (const [name, part] of Object.entries(element.shape)) {
      const stated = entry[name]
      if (meaningOf(part).common === kind && typeof stated === 'string') found.push(stated)
    }
  }
  return found
}
