import type { Json, JsonObject } from '../../../rollout/reward/index.js'
import { entitiesIn } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { entitiesShown, entitiesTaken } from './entities-shown.js'
import { changeBefore, checksOf } from './purpose.js'
import type { Open, Step } from './step.js'

/** Of what a look-up tells, the share that has to be new: somebody who has just been told does not ask again. */
const NEWS = 0.25

/**
 * Returns whether every look-up whose result is not used is worth its call. It has to show something new, and to be one of the checks that
 * the environment names for the call before it. Where the environment names no checks, a look-up after a change has to show what the call
 * changed. It must not be a look at the one thing that this call has just reported. A user would have looked at anything else before.
 */
export function lookUpsAreWorthIt(steps: readonly Step[], open: Open): boolean {
  return steps.every((step, i) => {
    if (!step.tool.annotations.readOnly) return true
    if (isTakenFrom(steps, i)) return !isSpelledOut(steps, i)
    if (!tellsNews(step, steps.slice(0, i))) return false
    const changed = changeBefore(steps, i)
    if (steps.slice(changed + 1, i).some((look) => makesNeedless(look, step))) return false
    const before = steps.slice(0, i).findLast(({ environment }) => environment === step.environment)
    const after = changed < 0 ? before : itemAt(steps, changed)
    const checks = after && checksOf(after)
    if (checks) return checks.includes(step.tool.name) || (changed < 0 && !areOfOne(after, step))
    return changed < 0 || (!areOfOne(after!, step) && showsTheChange(steps, changed, i, open))
  })
}

/** Whether the environment names what people look at after a look-up, and not this look at the same thing: who has read a file does not have its first lines read. */
const makesNeedless = (look: Step, next: Step): boolean =>
  look.environment === next.environment && checksOf(look)?.includes(next.tool.name) === false && areOfOne(look, next)

/** Shortest key that occurs in other words by no chance, in characters. */
const TELLING_LENGTH = 8

/** Whether somebody says in another call where the thing is that is looked for: who names the path of a file does not look for its directory. */
function isSpelledOut(steps: readonly Step[], source: number): boolean {
  const keys = steps.flatMap(({ bindings }) =>
    bindings.flatMap((binding) =>
      binding.source === source && typeof binding.value === 'string' && binding.value.length >= TELLING_LENGTH
        ? placesUnder(binding.value)
        : [],
    ),
  )
  const said = steps.flatMap(({ args, bindings }, i) =>
    i === source
      ? []
      : Object.entries(args).flatMap(([field, value]) =>
          typeof value === 'string' && !bindings.some((binding) => binding.field === field) ? [value] : [],
        ),
  )
  return said.some((text) => keys.some((key) => text.includes(key)))
}

/** A key, and of a path what the paths in it begin with. */
const placesUnder = (key: string): string[] =>
  key.includes('/') ? [key, `${key.slice(key.lastIndexOf('/') + 1)}/`] : [key]

/** Whether two calls are about the same one thing: that of the first key that each takes or, if it takes none, shows. */
const areOfOne = (one: Step, other: Step): boolean => {
  const [about] = thingsOf(other)
  return about !== undefined && thingsOf(one).includes(about)
}

/** The things that a call takes, and the one that it tells of. */
function thingsOf({ tool, args, output }: Step): string[] {
  const single = Object.fromEntries(Object.entries(output).filter(([, value]) => typeof value === 'string'))
  return [...entitiesTaken({ tool, args }), ...entitiesIn(tool.output, single).slice(0, 1)].map(
    ({ entity, key }) => `${entity} ${key}`,
  )
}

/** Whether a later call takes something that no call before this one showed. */
function isTakenFrom(steps: readonly Step[], source: number): boolean {
  const known = new Set(steps.slice(0, source).flatMap(({ args, output }) => [...leavesOf(args), ...leavesOf(output)]))
  return steps.some(({ bindings }) =>
    bindings.some((binding) => binding.source === source && !known.has(binding.value)),
  )
}

/** Whether a look-up answers otherwise, or not at all, where the change has not been made. */
function showsTheChange(steps: readonly Step[], changed: number, at: number, open: Open): boolean {
  const { environment, tool, args, output } = itemAt(steps, at)
  const session = open(environment)
  for (const [i, step] of steps.slice(0, at).entries()) {
    if (i !== changed && step.environment === environment && !step.tool.annotations.readOnly)
      session.call(step.tool.name, step.args)
  }
  const without = session.call(tool.name, args)
  return !without.ok || JSON.stringify(without.output) !== JSON.stringify(output)
}

/** Whether enough of what a result tells, beside the keys and names of things, stands in no call or result before it. */
function tellsNews({ environment, tool, output }: Step, earlier: readonly Step[]): boolean {
  const own = earlier.filter((step) => step.environment === environment)
  if (own.length === 0) return true
  const known = new Set(own.flatMap((step) => [...leavesOf(step.args), ...leavesOf(step.output)]))
  const changed = own.some((step) => !step.tool.annotations.readOnly)
  const keys = new Set(entitiesShown({ tool, output }).map(({ key }) => key))
  // That nothing is there is told by what was made of it, and not of what was there already.
  const stated = leavesOf(output).filter((value) => !keys.has(value as string) && !(changed && isNothing(value)))
  const news = stated.filter((value) => !known.has(value))
  return news.length > 0 && news.length >= NEWS * stated.length
}

const isNothing = (value: Json): boolean => value === 0 || value === '' || value === false

function leavesOf(value: Json | JsonObject): Json[] {
  if (typeof value !== 'object' || value === null) return [value]
  return Object.values(value).flatMap((part) => leavesOf(part as Json))
}
