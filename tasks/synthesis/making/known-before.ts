import type { Json } from '../../../rollout/reward/index.js'
import { itemAt } from '../item-at.js'
import { oncePer } from '../once-per.js'
import { isChoice } from '../wording/field-words.js'
import { isAskedAtOnce } from './asked-together.js'
import { takenBy } from './contradictions.js'
import { entitiesShown } from './entities-shown.js'
import type { Result } from './references.js'
import type { Parts, StatedBinding, StatedStep, Step } from './step.js'

/**
 * Returns whether everything that a turn says is known when it is said. A user does not have a list read out and say in the same breath
 * which name in it is meant. Nor does a user look for free seats and take seat 4B. A thing that is looked up by that name, or unasked, is
 * known before.
 */
export const isKnownInTime = (steps: readonly StatedStep[], parts: Parts, silent: ReadonlySet<number>): boolean =>
  parts.every(
    (part) =>
      part.every((at) => isNamedInTime(steps, part, at, silent) && !isTakenOff(steps, part, at, silent)) &&
      !isHasty(
        steps,
        part.filter((at) => !silent.has(at)),
      ),
  )

/**
 * Returns whether a user asks how a thing is and in the same breath has it changed, before the answer can matter. For example, a
 * user asks for the terms of a booking and ends the booking.
 */
export const isHasty = (steps: readonly Pick<Step, 'tool' | 'args'>[], part: readonly number[]): boolean =>
  part.some((at) => {
    const look = itemAt(steps, at)
    if (!isLook(look)) return false
    const about = takenBy(look)
    return part.some(
      (later) =>
        later > at &&
        !isLook(itemAt(steps, later)) &&
        takenBy(itemAt(steps, later)).some((thing) => about.includes(thing)),
    )
  })

const isLook = ({ tool }: Pick<Step, 'tool'>): boolean => tool.annotations.readOnly === true

/** Returns look-ups of a turn whose results are used only by name, with a name that the user cannot know before. */
export function namedAhead(
  steps: readonly StatedStep[],
  part: readonly number[],
  silent: ReadonlySet<number>,
): number[] {
  return part.filter((source) => {
    if (silent.has(source) || !itemAt(steps, source).tool.annotations.readOnly) return false
    const users = part.flatMap((at) =>
      itemAt(steps, at).bindings.flatMap((binding) => (binding.source === source ? [{ at, binding }] : [])),
    )
    const isNamed = users.every(({ binding: { way } }) => way.how === 'label')
    return isNamed && users.some(({ at, binding }) => !isInTime(binding, at, steps, itemAt(part, 0)))
  })
}

function isNamedInTime(
  steps: readonly StatedStep[],
  part: readonly number[],
  at: number,
  silent: ReadonlySet<number>,
): boolean {
  return itemAt(steps, at).bindings.every(
    (binding) =>
      !part.includes(binding.source) || silent.has(binding.source) || isInTime(binding, at, steps, itemAt(part, 0)),
  )
}

function isInTime(
  { way, source, entity }: StatedBinding,
  at: number,
  steps: readonly StatedStep[],
  begun: number,
): boolean {
  if (way.how !== 'label') return true
  const isAtOnce = entity === undefined || isAskedAtOnce(itemAt(steps, source), entity, itemAt(steps, at))
  return isAtOnce && isKnownBefore(way.label, steps, source, begun)
}

/** Whether a call has a value that is to be found in the result of another one of its turn, and nowhere before. */
function isTakenOff(
  steps: readonly StatedStep[],
  part: readonly number[],
  at: number,
  silent: ReadonlySet<number>,
): boolean {
  const { tool, args, bindings } = itemAt(steps, at)
  const shown = part.filter((index) => index < at && !silent.has(index)).map((index) => itemAt(steps, index))
  if (shown.length === 0) return false
  const known = new Set(
    [...leavesOf(steps.slice(0, at).map((step) => step.args)), ...leavesOf(statedBefore(steps, itemAt(part, 0)))].map(
      ({ value }) => value,
    ),
  )
  return Object.entries(args).some(
    ([field, value]) =>
      !bindings.some((binding) => binding.field === field) &&
      !known.has(value) &&
      shown.some(({ output }) => isRead(field, value, isChoice(itemAt(tool.input.shape, field)), output)),
  )
}

/** Whether an argument is read off a result: a text that stands in it, a number or one of few choices where it stands for the same. */
function isRead(field: string, value: Json, isOneOfFew: boolean, output: unknown): boolean {
  if (typeof value === 'boolean') return false
  return leavesOf(output).some(
    (leaf) =>
      leaf.value === value &&
      (typeof value === 'number' ? leaf.field === field : !isOneOfFew || (leaf.field === field && leaf.isFirst)),
  )
}

interface Leaf {
  readonly field: string
  readonly value: unknown
  /** It is the first of its entry in a list, which is what entries are told apart by. */
  readonly isFirst: boolean
}

function leavesOf(value: unknown, field = '', isFirst = false): Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ field, value, isFirst }]
  if (Array.isArray(value)) return value.flatMap((entry) => leavesOf(entry, field, true))
  return Object.entries(value).flatMap(([name, part], i) => leavesOf(part, name, isFirst && i === 0))
}

/** A call with its result. */
export type Call = Pick<Result, 'tool' | 'args' | 'output'>

/** Share of a name that is enough to look for the thing that has it, and not for all that have something in common. */
const TELLING_SHARE = 0.5

/**
 * Returns whether the only thing of a kind in a result was known to be the only one before the user saw it. Such a thing was made,
 * belongs to the thing that was asked about, or was looked for by its name.
 */
export function isSoughtAsOne(result: Result, entity: string): boolean {
  const { environment, tool, args, output } = result
  if (!tool.annotations.readOnly) return true
  const label = environment.entities[entity]?.label
  return entitiesShown(result).every(({ entity: kind, key, within }) => {
    if (kind !== entity || within === output) return true
    const name = label === undefined ? undefined : within[label]
    return Object.values(args).some((asked) => asked === key || (typeof name === 'string' && isNamedBy(name, asked)))
  })
}

const isNamedBy = (name: string, asked: unknown): boolean =>
  typeof asked === 'string' &&
  asked.length >= TELLING_SHARE * name.length &&
  name.toLowerCase().includes(asked.toLowerCase())

/**
 * Returns whether the name of a thing that a call shows occurs in the call, or in calls and results of earlier turns. A thing that is made
 * out of another, such as a deal out of a lead, has a name that is unknown before.
 */
export function isKnownBefore(label: string, steps: readonly Call[], source: number, begun: number): boolean {
  const text = JSON.stringify(label).slice(1, -1)
  return [...steps.slice(begun, source + 1).map(({ args }) => args), ...statedBefore(steps, begun)].some((values) =>
    writtenOf(values).includes(text),
  )
}

/** Returns all that was said before a turn: the arguments and results of its earlier calls. */
export const statedBefore = (steps: readonly Call[], begun: number): Call['args'][] =>
  steps.slice(0, begun).flatMap(({ args, output }) => [args, output])

/** Arguments or a result as JSON. */
const writtenOf = oncePer((values: Call['args']): string => JSON.stringify(values))
