import { entitiesIn, meaningOf, type SeededRandom } from '../../servers/kernel/index.js'
import { PEOPLE } from '../wording/referring.js'
import type { Way } from './references.js'
import type { Binding, Step } from './walk.js'

/** A step whose references are settled: one way for each. */
export interface ToldStep extends Omit<Step, 'bindings'> {
  readonly bindings: readonly ToldBinding[]
}

export interface ToldBinding extends Omit<Binding, 'ways'> {
  readonly way: Way
}

/**
 * Settles how the user means each value of an earlier result, now that it is known which calls are asked for in one turn
 * and which results have been told of before.
 * @param parts  the steps of each turn that asks for something
 * @param told  whether the assistant tells of results; otherwise users see them
 * @param unheard  whether nothing will come of it, so that no name can be said too early
 * @returns `null` when something can be meant in no way
 */
export function tellReferences(
  steps: readonly Step[],
  parts: readonly (readonly number[])[],
  told: boolean,
  random: SeededRandom,
  unheard = false,
): ToldStep[] | null {
  const partOf = (step: number): number => parts.findIndex((part) => part.includes(step))
  const settled: ToldStep[] = []
  for (const [i, step] of steps.entries()) {
    const bindings: ToldBinding[] = []
    for (const { ways, ...binding } of step.bindings) {
      const fitting = ways.filter((way) => fits(way, binding, i, { steps, partOf, told, unheard }))
      if (fitting.length === 0) return null
      bindings.push({ ...binding, way: random.pick(told ? natural(fitting) : fitting) })
    }
    settled.push({ ...step, bindings })
  }
  return settled
}

/** Of ways that can be understood, those that people take. */
function natural(ways: readonly Way[]): readonly Way[] {
  // People are called by their names: nobody says "the second colleague".
  const people = ways.filter(({ how, noun }) => how === 'label' && PEOPLE.has(noun))
  if (people.length > 0) return people
  // What has a sentence for a name is not named where it can be meant otherwise.
  const short = ways.filter((way) => way.how !== 'label' || way.label.split(' ').length < LONG_NAME)
  return short.length > 0 ? short : ways
}

/** Words of a name that nobody says twice. */
const LONG_NAME = 5

interface Course {
  readonly steps: readonly Step[]
  partOf(step: number): number
  readonly told: boolean
  readonly unheard: boolean
}

function fits(
  way: Way,
  { value, source, entity }: Omit<Binding, 'ways'>,
  at: number,
  { steps, partOf, told, unheard }: Course,
): boolean {
  if (entity === undefined) return true
  const earlier = steps.slice(0, at)
  const isPast = partOf(source) < partOf(at)
  const isReadOnly = steps[at]!.tool.annotations.readOnly
  switch (way.how) {
    case 'value':
      return true
    case 'label':
      if (told && !unheard && !isPast && Object.keys(steps[source]!.args).length > 0) {
        const begun = steps.findIndex((_, i) => partOf(i) === partOf(at))
        if (!isKnownBefore(way.label, steps, source, begun)) return false
      }
      return earlier.every((step) => namesakes(step, entity, way.label).every((key) => key === value))
    case 'only': {
      const newest = earlier.findLast((step) => keysOf(step, entity).size > 0)!
      if (keysOf(newest, entity).size > 1 || !keysOf(newest, entity).has(value)) return false
      if (!isPast) return isSoughtBy(steps[source]!, entity, way.noun)
      return !told || isTold(steps[source]!, entity)
    }
    case 'place':
    case 'extreme': {
      const newest = earlier.findLastIndex(lists)
      if (newest !== source || !listsKind(steps[source]!, entity)) return false
      if (isPast) return !told || isTold(steps[source]!, entity)
      return isReadOnly && (way.how === 'extreme' || (way.place === 1 && way.of !== undefined))
    }
  }
}

/** Whether the name of a thing that a call shows stands in the call, or in calls and results of earlier turns. What is made has the name that it was given. */
export function isKnownBefore(
  label: string,
  steps: readonly Pick<Step, 'tool' | 'args' | 'output'>[],
  source: number,
  begun: number,
): boolean {
  const { tool, args } = steps[source]!
  if (!tool.annotations.readOnly) return true
  const known = steps.slice(0, begun).map((earlier) => [earlier.args, earlier.output])
  return JSON.stringify([args, known]).includes(JSON.stringify(label).slice(1, -1))
}

/** Keys of a kind that a call takes or shows. */
function keysOf({ tool, args, output }: Step, entity: string): Set<string> {
  const found = [...entitiesIn(tool.input, args), ...entitiesIn(tool.output, output)]
  return new Set(found.flatMap((occurrence) => (occurrence.entity === entity ? [occurrence.key] : [])))
}

/** Keys beside a label, in what a call shows. */
function namesakes({ server, tool, output }: Step, entity: string, label: string): string[] {
  const field = server.entities[entity]?.label
  return entitiesIn(tool.output, output).flatMap((found) =>
    found.entity === entity && field !== undefined && found.within[field] === label ? [found.key] : [],
  )
}

/** Whether a call shows a list of several things: "the first one" is then one of these, whatever they are. */
const lists = ({ output }: Step): boolean =>
  Object.values(output).some((value) => Array.isArray(value) && value.some(isRow))

const isRow = (value: unknown): boolean => typeof value === 'object' && value !== null

const listsKind = ({ tool, output }: Step, entity: string): boolean =>
  Object.entries(tool.output.shape).some(
    ([field, schema]) =>
      Array.isArray(output[field]) &&
      entitiesIn(schema as never, output[field]).some((found) => found.entity === entity),
  )

/** Whether a report of the result names things of this kind: the label in each row is theirs, or people say their keys. */
function isTold({ server, tool, output }: Step, entity: string): boolean {
  const { label, sayable } = server.entities[entity] ?? {}
  const found = entitiesIn(tool.output, output)
  return found
    .filter((occurrence) => occurrence.entity === entity)
    .every(({ within, key }) => {
      if (sayable) return true
      const owner = found.find((other) => other.within === within && server.entities[other.entity]?.label === label)
      return label !== undefined && typeof within[label] === 'string' && owner?.key === key
    })
}

/** Whether whoever asks for the call says what kind of thing it is about. */
function isSoughtBy({ tool }: Step, entity: string, noun: string): boolean {
  const head = noun.split(' ').at(-1)!
  const takes = Object.values(tool.input.shape).some((schema) => meaningOf(schema).entity === entity)
  return takes || tool.name.includes(head) || tool.ask.every((clause) => clause.includes(head))
}
