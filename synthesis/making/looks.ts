import type { Json, JsonObject } from '../../reward/index.js'
import { entitiesIn } from '../../servers/kernel/index.js'
import { changeBefore, checksOf } from './purpose.js'
import type { Open, Step } from './walk.js'

/** Of what a look-up tells, the share that has to be new: somebody who has just been told does not ask again. */
const NEWS = 0.25

/**
 * Whether every look-up from which nothing is taken is worth its call: it tells what nobody was told before, and where something was changed
 * before it, it is one of those that the world names as checks of that call, or, where the world names none, shows what was changed. Anything
 * else would have been looked at before.
 */
export function lookUpsAreWorthIt(steps: readonly Step[], open: Open): boolean {
  return steps.every((step, i) => {
    if (!step.tool.annotations.readOnly || isTakenFrom(steps, i)) return true
    if (!tellsNews(step, steps.slice(0, i))) return false
    const changed = changeBefore(steps, i)
    if (changed < 0) return true
    const checks = checksOf(steps[changed]!)
    return checks ? checks.includes(step.tool.name) : showsTheChange(steps, changed, i, open)
  })
}

const isTakenFrom = (steps: readonly Step[], source: number): boolean =>
  steps.some(({ bindings }) => bindings.some((binding) => binding.source === source))

/** Whether a look-up answers otherwise, or not at all, where the change has not been made. */
function showsTheChange(steps: readonly Step[], changed: number, at: number, open: Open): boolean {
  const { server, tool, args, output } = steps[at]!
  const session = open(server)
  for (const [i, step] of steps.slice(0, at).entries()) {
    if (i !== changed && step.server === server && !step.tool.annotations.readOnly)
      session.call(step.tool.name, step.args)
  }
  const without = session.call(tool.name, args)
  return !without.ok || JSON.stringify(without.output) !== JSON.stringify(output)
}

/** Whether enough of what a result tells, beside the keys and names of things, stands in no call or result before it. */
function tellsNews({ server, tool, output }: Step, earlier: readonly Step[]): boolean {
  const own = earlier.filter((step) => step.server === server)
  if (own.length === 0) return true
  const known = new Set(own.flatMap((step) => [...leavesOf(step.args), ...leavesOf(step.output)]))
  const changed = own.some((step) => !step.tool.annotations.readOnly)
  const keys = new Set(entitiesIn(tool.output, output).map(({ key }) => key))
  // That nothing is there is told by what was made of it, and not of what was there already.
  const told = leavesOf(output).filter((value) => !keys.has(value as string) && !(changed && isNothing(value)))
  const news = told.filter((value) => !known.has(value))
  return news.length > 0 && news.length >= NEWS * told.length
}

const isNothing = (value: Json): boolean => value === 0 || value === '' || value === false

function leavesOf(value: Json | JsonObject): Json[] {
  if (typeof value !== 'object' || value === null) return [value]
  return Object.values(value).flatMap((part) => leavesOf(part as Json))
}
