import type { z } from 'zod'
import type { Json, JsonObject } from '../../../rollout/reward/index.js'
import { hasEffect, meaningOf, type SeededRandom, type Session } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { oncePer } from '../once-per.js'
import { isChoice } from '../wording/field-words.js'
import { isDate, isTime } from '../wording/value-words.js'
import type { Open, StatedStep } from './step.js'
import { TODAY } from './today.js'

/** A call that fails in the conversation, before it is made good or given up. */
export interface FailedCall {
  /** The step that it is an attempt at. */
  readonly step: number
  /** The argument that is wrong; `undefined` when none is: another tool has to come first. */
  readonly field: string | undefined
  readonly args: JsonObject
  readonly code: string
  readonly message: string
}

/** A call that was made, with the fields that earlier results give. */
type Made = Pick<StatedStep, 'environment' | 'tool' | 'args' | 'output'> & {
  readonly bindings: readonly { readonly field: string }[]
}

/** The steps of a conversation, in the environments that they are taken in. */
interface Course {
  readonly steps: readonly Made[]
  readonly open: Open
  readonly random: SeededRandom
}

/** Draws of wrong values before a step is found to have none. */
const FAILING_TRIES = 12

/**
 * Other arguments for a step that make it fail for a reason of the environment. One field differs, which a user may get wrong.
 * @param after  tried in the state after the step instead of before it
 */
export function failingVariant({ steps, open, random }: Course, index: number, after = false): FailedCall | null {
  const step = itemAt(steps, index)
  // Who has charged 60 and reconsiders does not charge 90 then.
  if (after && hasEffect(step, 'adds')) return null
  const session = playUpTo(steps, after ? steps.length : index, open)(step.environment)
  // What could not be done a second time anyway does not fail for its new value.
  if (after && !session.fork().call(step.tool.name, step.args).ok) return null
  const said = steps
    .slice(0, index)
    .flatMap(({ environment, args }) => (environment === step.environment ? [args] : []))
  const most = Math.max(...said.flatMap((args) => Object.values(args).filter((value) => typeof value === 'number')))
  const free = Object.keys(step.args).filter((field) => {
    const schema = itemAt(step.tool.input.shape, field)
    const { entity } = meaningOf(schema)
    return (
      entity === undefined &&
      !ACT.test(field) &&
      !IN_ITS_PLACE.test(field) &&
      !(typeof step.args[field] === 'number' && hasEffect(step, 'reports')) &&
      // Who has said it rightly once does not get it wrong then.
      !said.some((args) => args[field] === step.args[field]) &&
      (after ? typeof step.args[field] === 'number' : isMisjudged(itemAt(step.args, field), schema)) &&
      !step.bindings.some((binding) => binding.field === field)
    )
  })
  if (free.length === 0) return null
  const earlier = steps.slice(0, index)
  for (const field of random.shuffle(free)) {
    const tried = new Set<Json>([itemAt(step.args, field)])
    for (const value of wrongValues(itemAt(step.args, field), session, step, field, random)) {
      if (tried.has(value)) continue
      tried.add(value)
      if (isNotOffered(value, field, earlier)) continue
      // Who has looked for something up to 140 does not bid 500 for it.
      if (typeof value === 'number' && Number.isFinite(most) && value > most) continue
      const args = { ...step.args, [field]: value }
      const result = session.fork().call(step.tool.name, args)
      if (result.ok || result.code === 'invalid_arguments' || isFulfilled(result, value)) continue
      if (isMoreThanStated(value, result.message, earlier)) continue
      if (after || !fallsShort(itemAt(step.args, field), value, result.message))
        return { step: index, field, args, code: result.code, message: result.message }
    }
  }
  return null
}

/** What nothing else does for: who finds no cafe does not look for a library, nobody means to stop a loss at twice the price, nobody who wants 34 degrees is content with 17, and what was counted was. */
const IN_ITS_PLACE =
  /^(category|cuisine|door|trigger|until|stop_price|alert_price|limit_price|degrees|temperature|counted)$/

/** Codes of refusals that say that it is so already, or that there is nothing to be done. */
const SO_ALREADY = /(?:^|_)(?:already|same|duplicate|exists?|nothing|current)(?:_|$)/

/** Returns whether a refusal says that the user's wish is already fulfilled. The user then stops, and takes nothing else. */
export function isFulfilled({ code, message }: Pick<FailedCall, 'code' | 'message'>, wished: Json): boolean {
  if (SO_ALREADY.test(code)) return true
  // Who asks for two bags hears that there are two of three.
  const stated = numbersIn(message)
  return typeof wished === 'number' && stated.includes(wished) && stated.some((other) => other > wished)
}

/** Numbers of a text that stand by themselves. */
const numbersIn = (text: string): number[] =>
  [...text.matchAll(/(?<![\w-])\d+(?![\w-])/g)].map(([digits]) => Number(digits))

/** Of what there is, the share that somebody takes at least who wanted more. */
const TAKEN = 0.8

/** Whether somebody who hears how much there is takes far less than that, though they wanted more. */
function fallsShort(right: Json, wrong: Json, message: string): boolean {
  if (typeof right !== 'number' || typeof wrong !== 'number') return false
  return numbersIn(message).some((most) => most < wrong && right < most * TAKEN)
}

/** Whether what was found before lists what can be had, and not this: who reads of standard and express does not take the courier. */
function isNotOffered(value: Json, field: string, earlier: readonly Made[]): boolean {
  const offered = earlier.flatMap(({ output }) =>
    Object.values(output)
      .flatMap((list) => (Array.isArray(list) ? (list as JsonObject[]) : []))
      .map((row) => row?.[field]),
  )
  return typeof value === 'string' && offered.some((other) => other !== undefined) && !offered.includes(value)
}

/** Whether a look-up has told how much there is, which the refusal says again: who reads of 846 points does not pay with 1,400. */
function isMoreThanStated(value: Json, message: string, earlier: readonly Made[]): boolean {
  const stated = earlier.flatMap(({ tool, output }) =>
    tool.annotations.readOnly ? numbersIn(JSON.stringify(output)) : [],
  )
  return typeof value === 'number' && numbersIn(message).some((most) => most < value && stated.includes(most))
}

/** Arguments that choose what is to be done, not how. A user who wants a person held does not want that person removed instead. */
export const ACT =
  /^(action|change|answer|outcome|status|state|stage|access|power|rule|restriction|side|charging|child_lock)$/

/** Whether somebody could well ask for too much, too early or the wrong one of several: names and texts are not mistaken for others. */
const isMisjudged = (value: Json, schema: z.ZodType): boolean =>
  typeof value === 'number' || (typeof value === 'string' && (isDate(value) || isTime(value) || isChoice(schema)))

/** How much more somebody asks for than there is, the least first: people go a little too far rather than beyond all measure. */
const TOO_MUCH = [1.25, 1.5, 2] as const
/** Below this number three times as much is still a little too far: three bags for one. */
const FEW = 10

/** Yields values that a person might say instead: more than is available, another day, or another of the choices. */
export function* wrongValues(
  value: Json,
  session: Session,
  step: Pick<StatedStep, 'tool'>,
  field: string,
  random: SeededRandom,
): Generator<Json> {
  if (typeof value === 'number')
    yield* [...TOO_MUCH, ...(value < FEW ? [3] : [])]
      .map((times) => value * times)
      .filter((more) => Number.isInteger(more))
  if (typeof value !== 'string') return
  for (let attempt = 0; attempt < FAILING_TRIES; attempt++) {
    const other = session.sampleArguments(step.tool, random, {})?.[field]
    // Nobody asks for a day that is over.
    const isOver = isDate(other) && other < TODAY
    if (typeof other === 'string' && !isOver) yield other
  }
}

/** The sessions of the task after the first `count` steps. */
export function playUpTo(
  steps: readonly Pick<StatedStep, 'environment' | 'tool' | 'args'>[],
  count: number,
  open: Open,
): Open {
  const sessionOf = oncePer(open)
  for (const { environment, tool, args } of steps.slice(0, count)) sessionOf(environment).call(tool.name, args)
  return sessionOf
}
