import type { Json } from '../../../rollout/reward/index.js'
import { type EntityOccurrence, entitiesIn, hasEffect, speechOf } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { oncePer } from '../once-per.js'
import { choicesOf } from '../wording/field-words.js'
import { entitiesShown, entitiesTaken } from './entities-shown.js'
import { isMoment } from './repeated-values.js'
import type { Open, Step } from './step.js'

/**
 * Returns whether two calls give different days, times or numbers under one name, though they belong together. Calls belong together if
 * they are about one thing, or if the later is for what the earlier found. A user does not look for a hotel room for two nights and book
 * three. Nor does a user drive at 130 and have the car keep to 60. Nor does a user look for brands of sports and then for what one of them
 * has for the kitchen.
 */
export function areAtOdds(steps: readonly Step[]): boolean {
  return steps.some((later, j) =>
    steps
      .slice(0, j)
      .some((earlier, i) =>
        later.tool.annotations.readOnly ? turnsAside(earlier, i, later) : differ(earlier, i, later),
      ),
  )
}

/** Whether a look-up takes what another found among one choice, and looks at it among another. */
function turnsAside(earlier: Step, at: number, later: Step): boolean {
  if (!earlier.tool.annotations.readOnly || earlier.environment !== later.environment) return false
  if (!later.bindings.some(({ source }) => source === at)) return false
  return Object.entries(later.args).some(([field, value]) => {
    const other = earlier.args[field]
    return other !== undefined && other !== value && choicesOf(later.tool, field).length > 0
  })
}

function differ(earlier: Step, at: number, later: Step): boolean {
  if (earlier.environment !== later.environment) return false
  const [a, b] = [takenBy(earlier), takenBy(later)]
  const isForIt = later.bindings.some(({ source }) => source === at) && !hasEffect(later, 'amends')
  const isOne = a.some((thing) => b.includes(thing)) || (a.length === 0 && b.length === 0)
  if (earlier.tool.annotations.readOnly ? !isForIt : !isOne) return false
  const { keeps = [] } = speechOf(later)
  const isKept = (field: string, value: Json | undefined): boolean =>
    isMoment(value) || (typeof value === 'number' && keeps.includes(field))
  return Object.entries(later.args).some(([field, value]) => {
    const other = earlier.args[field]
    return other !== value && isKept(field, value) && isKept(field, other)
  })
}

/**
 * Returns whether a call looks for a part of a thing, such as its free seats, and the thing is changed next without the result. A user does
 * not look for a seat to book more bags.
 */
export function isForNothing(steps: readonly Step[], at: number): boolean {
  const look = itemAt(steps, at)
  const { tool, args, output } = look
  if (!tool.annotations.readOnly || !hasEffect(look, 'seeks')) return false
  const about = [...entitiesTaken({ tool, args }), ...aboutIn(tool, output)].map(nameOf)
  const isUsed = steps.some(({ bindings }) =>
    bindings.some(({ source, entity, value }) => source === at && !about.includes(`${entity} ${value}`)),
  )
  const next = steps.slice(at + 1).find((step) => !step.tool.annotations.readOnly)
  if (isUsed || !next || !takenBy(next).some((thing) => about.includes(thing))) return false
  const found = JSON.stringify(Object.values(output).filter((part) => Array.isArray(part)))
  return !Object.entries(next.args).some(
    ([field, value]) =>
      typeof value === 'string' &&
      !next.bindings.some((binding) => binding.field === field) &&
      found.includes(JSON.stringify(value)),
  )
}

/** The things that a call is given. */
export const takenBy = ({ tool, args }: Pick<Step, 'tool' | 'args'>): string[] =>
  entitiesTaken({ tool, args }).map(nameOf)

/** The first key of a result is what it is about; others tell where that belongs. */
export function aboutIn(tool: Step['tool'], output: Step['output']): EntityOccurrence[] {
  const single = Object.fromEntries(Object.entries(output).filter(([, value]) => typeof value === 'string'))
  return entitiesIn(tool.output, single).slice(0, 1)
}

export const nameOf = ({ entity, key }: { readonly entity: string; readonly key: string }): string => `${entity} ${key}`

/**
 * Whether what each call joins belongs together: who is looked for among the people of one project is given no work of another. It is read
 * off the rows of the environments as they were before, and what is made on the way belongs where it is made.
 */
export function belongsTogether(steps: readonly Step[], open: Open): boolean {
  const sessionOf = oncePer(open)
  return steps.every((step) =>
    step.bindings.every(({ source, value }) => {
      const lookUp = itemAt(steps, source)
      if (lookUp.environment !== step.environment || !lookUp.tool.annotations.readOnly) return true
      const places = entitiesTaken(lookUp)
      const others = entitiesTaken(step).filter(({ key }) => key !== value)
      if (places.length === 0 || others.length === 0) return true
      return others.every(({ entity, key }) => {
        const table = step.environment.entities[entity]?.table
        const row = table === undefined ? undefined : itemAt(sessionOf(step.environment).db, table).get(key)
        const maker =
          row === undefined ? steps.find((made) => entitiesShown(made).some((it) => it.key === key)) : undefined
        return places.every((place) => {
          const made = maker && entitiesTaken(maker).find((taken) => taken.entity === place.entity)?.key
          const own = row?.[place.entity] ?? made
          return typeof own !== 'string' || own === place.key
        })
      })
    }),
  )
}
