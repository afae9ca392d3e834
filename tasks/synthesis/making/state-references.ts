import { meaningOf, type SeededRandom, speechOf, withChoices } from '../../../servers/kernel/index.js'
import { itemAt, lastOf } from '../item-at.js'
import { oncePer, oncePerName } from '../once-per.js'
import type { Way } from '../way.js'
import { isPerson } from '../wording/reference-words.js'
import { canAskForSeveral, isAskedAtOnce } from './asked-together.js'
import { entitiesShown, entitiesTaken, keysShown, kindsListed } from './entities-shown.js'
import { isKnownBefore, isSoughtAsOne } from './known-before.js'
import type { Binding, Parts, StatedBinding, StatedStep, Step } from './step.js'

/** The way in which users learn of results. */
export interface Hearing {
  /** Whether the assistant tells of them; otherwise users see them. */
  readonly stated: boolean
  /** Whether nothing will come of it, so that no name can be said too early. */
  readonly unheard?: boolean
  /** Whether nothing is meant that is only to be found out. */
  readonly inTime: boolean
}

/**
 * Settles how the user means each value of an earlier result. It is known by now which calls are asked for in one turn, and
 * which results have been reported before.
 * @param parts  the steps of each turn that asks for something
 * @returns `null` when something can be meant in no way
 */
export function tellReferences(
  steps: readonly Step[],
  parts: Parts,
  hearing: Hearing,
  random: SeededRandom,
): StatedStep[] | null {
  const course = courseOf(steps, parts, hearing)
  const settled: StatedStep[] = []
  for (const [i, step] of steps.entries()) {
    const bindings: StatedBinding[] = []
    for (const { ways, ...binding } of step.bindings) {
      const fitting = ways.filter((way) => fits(way, binding, i, course))
      if (fitting.length === 0) return null
      const isNew =
        course.partOf(binding.source) === course.partOf(i) && isMade(itemAt(steps, binding.source), binding.value)
      bindings.push({ ...binding, way: random.pick(hearing.stated ? natural(fitting, isNew) : fitting) })
    }
    settled.push({ ...step, bindings })
  }
  return settled
}

/** Whether everything can be meant in some way when these steps are asked for in these turns. */
export const canBeStated = (steps: readonly Step[], parts: Parts, hearing: Hearing): boolean =>
  steps.every(({ bindings }, at) => bindings.every((binding) => canBeMeant(binding, at, steps, parts, hearing)))

/** The same of one value that a step takes over. It depends on nothing that comes after, nor on what else the step is given. */
export function canBeMeant(
  binding: Binding,
  at: number,
  steps: readonly Step[],
  parts: Parts,
  hearing: Hearing,
): boolean {
  const course = courseOf(steps, parts, hearing)
  return binding.ways.some((way) => fits(way, binding, at, course))
}

/**
 * Of ways that can be understood, those that people take.
 * @param isNew  whether the thing comes of a change that is asked for in the same turn: nobody calls it by a name then
 */
function natural(ways: readonly Way[], isNew: boolean): readonly Way[] {
  // People are called by their names: nobody says "the second colleague".
  const people = ways.filter(({ how, noun }) => how === 'label' && isPerson(noun))
  if (people.length > 0) return people
  const only = ways.filter(({ how }) => how === 'only')
  if (isNew && only.length > 0) return only
  // What has a sentence for a name is not named where it can be meant otherwise.
  const short = ways.filter((way) => way.how !== 'label' || way.label.split(' ').length < LONG_NAME)
  return short.length > 0 ? short : ways
}

/** Whether a call makes a thing that it was not given. */
const isMade = ({ tool, args }: Step, key: string): boolean =>
  !tool.annotations.readOnly && !Object.values(args).includes(key)

/** Words of a name that nobody says twice. */
const LONG_NAME = 5

interface Course {
  readonly steps: readonly Step[]
  readonly hearing: Hearing
  /** The place of the turn that asks for a step; -1 if none does. */
  partOf(step: number): number
}

function courseOf(steps: readonly Step[], parts: Parts, hearing: Hearing): Course {
  const turns = turnsOf(parts)
  return { steps, hearing, partOf: (step) => turns[step] ?? -1 }
}

const turnsOf = oncePer((parts: Parts): readonly number[] => {
  const turns: number[] = []
  for (const [turn, part] of parts.entries()) for (const step of part) turns[step] = turn
  return turns
})

function fits(
  way: Way,
  { value, source, entity }: Omit<Binding, 'ways'>,
  at: number,
  { steps, hearing: { stated, unheard, inTime }, partOf }: Course,
): boolean {
  const isPast = partOf(source) < partOf(at)
  const begun = steps.findIndex((_, i) => partOf(i) === partOf(at))
  if (entity === undefined) return isPast || !inTime || isKnownBefore(value, steps, source, begun)
  const earlier = steps.slice(0, at)
  const isReadOnly = itemAt(steps, at).tool.annotations.readOnly
  switch (way.how) {
    case 'value':
      return true
    case 'label':
      if (stated && !isPast && !isFoundByNameAlone(itemAt(steps, source), way.label)) {
        if (!isAskedAtOnce(itemAt(steps, source), entity, itemAt(steps, at))) return false
        if (!unheard && !isKnownBefore(way.label, steps, source, begun)) return false
      }
      return earlier.every((step) => namesakes(step, entity, way.label).every((key) => key === value))
    case 'only': {
      const newest = earlier.findLast((step) => keysOf(step, entity).size > 0)!
      if (keysOf(newest, entity).size > 1 || !keysOf(newest, entity).has(value)) return false
      if (!isPast)
        return (
          (isSoughtBy(itemAt(steps, source), entity, way.noun) || isMadeUnder(steps, source, entity, begun)) &&
          (!inTime ||
            (isSoughtAsOne(itemAt(steps, source), entity) &&
              isAskedAtOnce(itemAt(steps, source), entity, itemAt(steps, at))))
        )
      return !stated || isStated(itemAt(steps, source), entity)
    }
    case 'place':
    case 'extreme': {
      const newest = earlier.findLastIndex(lists)
      if (newest !== source || !kindsListed(itemAt(steps, source)).has(entity)) return false
      // Of two lists in one answer nobody knows which the third store is of, nor which stores the nearest is one of.
      const isRival = (step: Step, i: number): boolean =>
        i !== source &&
        partOf(i) === partOf(source) &&
        (kindsListed(step).has(entity) || (way.how === 'place' && listsOf(step).length > 0))
      if (stated && (earlier.some(isRival) || (way.how === 'place' && listsOf(itemAt(steps, source)).length > 1)))
        return false
      if (isPast) return !stated || isStated(itemAt(steps, source), entity)
      // Who is read a list to says which of it in the next turn, unless that can be said of any list.
      if (!isReadOnly) return false
      return way.how === 'extreme'
        ? !inTime || canAskForSeveral(itemAt(steps, source), entity)
        : !inTime && way.place === 1 && way.of !== undefined
    }
  }
}

/** Keys of a kind that a call takes or shows. */
const keysOf = oncePerName((step: Step, entity: string): ReadonlySet<string> => {
  const taken = entitiesTaken(step).flatMap((occurrence) => (occurrence.entity === entity ? [occurrence.key] : []))
  return new Set([...taken, ...keysShown(step, entity)])
})

/** Keys beside a label, in what a call shows. */
function namesakes(step: Step, entity: string, label: string): string[] {
  const field = step.environment.entities[entity]?.label
  return entitiesShown(step).flatMap((found) =>
    found.entity === entity && field !== undefined && found.within[field] === label ? [found.key] : [],
  )
}

/** Whether a change leads to a thing by whose name something was known before: the draft that an email becomes. */
function isMadeUnder(steps: readonly Step[], source: number, entity: string, begun: number): boolean {
  const { environment, tool, output } = itemAt(steps, source)
  const field = environment.entities[entity]?.label
  if (tool.annotations.readOnly || field === undefined) return false
  return entitiesShown({ tool, output }).every(({ entity: kind, within }) => {
    const name = within[field]
    return kind !== entity || (typeof name === 'string' && isKnownBefore(name, steps, source, begun))
  })
}

/** Whether nobody has to ask for a look-up: it takes no more than the name by which the thing is meant. */
const isFoundByNameAlone = ({ tool, args }: Step, label: string): boolean =>
  tool.annotations.readOnly === true && Object.values(args).every((value) => value === label)

/** Whether a call shows a list: "the first one" is then one of these, whatever they are. */
const lists = ({ output }: Step): boolean =>
  Object.values(output).some((value) => Array.isArray(value) && value.some(isRow))

/** The lists of a result that hold several things. */
const listsOf = ({ output }: Step): unknown[] =>
  Object.values(output).filter((value) => Array.isArray(value) && value.length > 1 && value.every(isRow))

const isRow = (value: unknown): boolean => typeof value === 'object' && value !== null

/** Whether a report of the result names things of this kind: the label in each row is theirs, or people say their keys. */
function isStated(step: Step, entity: string): boolean {
  const { label, sayable } = step.environment.entities[entity] ?? {}
  const found = entitiesShown(step)
  return found
    .filter((occurrence) => occurrence.entity === entity)
    .every(({ within, key }) => {
      if (sayable) return true
      const owner = found.find(
        (other) => other.within === within && step.environment.entities[other.entity]?.label === label,
      )
      return label !== undefined && typeof within[label] === 'string' && owner?.key === key
    })
}

/** Whether whoever asks for the call says what kind of thing it is about. */
function isSoughtBy({ environment, tool }: Step, entity: string, noun: string): boolean {
  const head = lastOf(noun.split(' '))
  const takes = Object.values(tool.input.shape).some((schema) => meaningOf(schema).entity === entity)
  const { ask, further } = speechOf({ environment, tool })
  const ways = [...ask, ...further.ask.map((way) => withChoices(way, () => ''))]
  return takes || tool.name.includes(head) || ways.every((clause) => clause.includes(head))
}
