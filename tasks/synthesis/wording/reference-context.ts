import type { Json } from '../../../rollout/reward/index.js'
import { entityKinds, meaningOf } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import type { Way } from '../way.js'
import { isPerson, type ReferenceContext } from './reference-words.js'
import type { Ask, Moment } from './speech.js'

/** Looks for the result that the reference of a field points into, among the calls asked for earlier in the same turn. */
export function contextOf(
  ask: Ask,
  field: string,
  way: Way,
  earlier: readonly Ask[],
  { turn }: Moment,
): ReferenceContext {
  const { environment, tool, args, references } = ask
  const { entity = '' } = meaningOf(itemAt(tool.input.shape, field))
  const target: Target = { environment, entity, key: itemAt(args, field), way }
  const gives = (other: Ask): boolean => other.environment === environment && entityKinds(other.tool.output).has(entity)
  const last = earlier.findLast(({ silent }) => !silent)
  const sources = earlier.filter(gives)
  const isLast = last !== undefined && gives(last) && sources.length === 1
  const isAlike = [...references.values()].some((other) => other !== way && other.noun === way.noun)
  const kind = environment.entities[entity]
  return {
    adjacent: isLast && entityKinds(last.tool.output).size === 1,
    named: last !== undefined && !isList(last) && speaksOnlyOf(last, target),
    ahead: sources.length > 0 && sources.every((other) => other.tool.annotations.readOnly) && turn === 0,
    made: isLast && makes(last, entity),
    repeated: repeatedFrom(earlier, target) ?? (isAlike ? 'beside' : undefined),
    labelField: kind?.label,
    article: kind?.article === true,
  }
}

/** The entity that a reference means, and how. */
interface Target {
  readonly environment: Ask['environment']
  readonly entity: string
  readonly key: Json
  readonly way: Way
}

/** Returns the entities among the arguments of a call. */
const entitiesIn = ({ tool, args }: Ask): { readonly kind: string; readonly key: Json }[] =>
  Object.entries(args).flatMap(([field, key]) => {
    const kind = meaningOf(itemAt(tool.input.shape, field)).entity
    return kind === undefined ? [] : [{ kind, key }]
  })

/** Whether the clause lists things of which nobody knows yet how many there are. */
const isList = ({ tool }: Ask): boolean => tool.annotations.readOnly && /^(list|show|view|browse)_/.test(tool.name)

/** Whether the call is what brings things of this kind into being. */
const makes = ({ tool }: Ask, entity: string): boolean =>
  /^(create|add|write|schedule|save|plan|book)_(?!to_)/.test(tool.name) && tool.name.includes(entity)

/** Whether nothing else was named in the clause just before, which "it" or "them" would mean instead: of a person nobody says "it", nor "them" of a thing. */
function speaksOnlyOf(last: Ask, { entity, key }: Target): boolean {
  const isSomebody = (kind: string): boolean => isPerson(last.environment.entities[kind]?.noun ?? kind)
  return entitiesIn(last).every(
    (other) => other.kind === entity || other.key === key || isSomebody(other.kind) !== isSomebody(entity),
  )
}

/** How a thing was meant before in the turn, if it was and no other of its kind since. */
function repeatedFrom(earlier: readonly Ask[], target: Target): ReferenceContext['repeated'] {
  const { environment, entity, key, way } = target
  // A light is a device, out of the same table.
  const tableOf = (kind: string): string | undefined => environment.entities[kind]?.table
  const spoken = earlier.filter(({ silent }) => !silent)
  for (const [i, ask] of spoken.toReversed().entries()) {
    if (ask.environment !== environment) continue
    const named = entitiesIn(ask)
    const alike = named.filter(({ kind }) => kind === entity)
    if (alike.some((other) => other.key !== key)) return alike.some((other) => other.key === key) ? 'beside' : undefined
    const isMeant = named.some((other) => other.key === key && tableOf(other.kind) === tableOf(entity))
    const isNamed = way.how === 'label' && Object.values(ask.args).includes(way.label)
    if (isMeant || (isNamed && entityKinds(ask.tool.output).has(entity))) return i === 0 ? 'before' : 'earlier'
  }
  return undefined
}
