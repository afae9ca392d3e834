import type { Task } from '../../../rollout/episode/index.js'
import type { Json, JsonObject } from '../../../rollout/reward/index.js'
import { meaningOf, type SeededRandom, type Session, type SpokenEnvironment } from '../../../servers/kernel/index.js'
import type { Node } from '../graph.js'
import { itemAt, valueAt } from '../item-at.js'
import { changesBetween } from './reversals.js'
import type { Open, Step } from './step.js'

/** Draws of arguments for one tool on offer. */
const TRIES = 6
/** Calls one after the other that are tried: look-ups feed the second. */
const DEPTH = 2
/** Of what a hidden call would have told or changed, the share from which on another call does as well. */
const AS_WELL = 0.5

/**
 * Returns whether a call can be done without its tool. Some offered call, or two of them in a row, then shows or changes as much with what
 * is known by then. The search is bounded, so a solution that it does not find may still exist. It looks where a person would, at calls
 * with the values of the request.
 * @param steps   the walk; the calls before `hidden` that are on offer are made first
 */
export function isSolvable(
  steps: readonly Step[],
  hidden: number,
  offered: readonly Node[],
  open: Open,
  random: SeededRandom,
): boolean {
  const { environment, tool, args } = itemAt(steps, hidden)
  const start = open(environment)
  for (const step of steps.slice(0, hidden)) if (step.environment === environment) start.call(step.tool.name, step.args)
  const after = start.fork()
  if (!after.call(tool.name, args).ok) return false
  const known = new Set<Json>(steps.slice(0, hidden + 1).flatMap((step) => Object.values(step.args)))
  const goal = goalOf(itemAt(steps, hidden), known, start, after)
  const own = offered.filter((node) => node.environment === environment && node.tool.name !== tool.name)
  return goal.size > 0 && reaches(goal, itemAt(steps, hidden), own, start, DEPTH, random)
}

/**
 * Returns whether the results before a look-up already show the figure that it is for. Nothing is then left undone without the look-up. For
 * example, an order that was filled has shown the buying power.
 */
export function isStatedBefore(steps: readonly Step[], at: number): boolean {
  const { environment, tool, args, output } = itemAt(steps, at)
  if (!tool.annotations.readOnly) return false
  const asked = Object.values(args)
  const figures = Object.entries(output).filter(
    ([field, value]) => typeof value === 'number' && field !== 'found' && !asked.includes(value),
  )
  return steps
    .slice(0, at)
    .some((step) => step.environment === environment && figures.some(([field, value]) => step.output[field] === value))
}

function reaches(
  goal: ReadonlySet<string>,
  step: Step,
  offered: readonly Node[],
  start: Session,
  depth: number,
  random: SeededRandom,
): boolean {
  const isReading = step.tool.annotations.readOnly === true
  for (const node of offered) {
    const isWriting = !node.tool.annotations.readOnly
    // A look-up changes nothing, and nobody changes something in order to learn of it.
    if (isReading === isWriting) continue
    const tried = new Set<string>()
    for (let left = TRIES; left > 0; left--) {
      const args = argumentsFor(node, step.args, step, start, left > TRIES / 2, random)
      const name = JSON.stringify(args)
      if (!args || tried.has(name)) continue
      tried.add(name)
      const session = start.fork()
      const result = session.call(node.tool.name, args)
      if (!result.ok) continue
      const got = isReading ? leavesOf(result.output as Json) : changed(start, session)
      if (shareOf(goal, got) >= AS_WELL) return true
      if (depth > 1 && isWriting) {
        const both = offered.filter((other) => other !== node)
        const rest = new Set([...goal].filter((fact) => !got.has(fact)))
        // Only a first call that does a part of it is worth a second.
        if (rest.size < goal.size && reaches(rest, step, both, session, depth - 1, random)) return true
      }
    }
  }
  return false
}

/** The hidden call's arguments where a tool on offer takes the like: the same field, or the same kind of thing. */
function argumentsFor(
  { tool }: Node,
  known: JsonObject,
  step: Step,
  session: Session,
  byKind: boolean,
  random: SeededRandom,
): JsonObject | null {
  const bound: Record<string, Json> = {}
  for (const [field, schema] of Object.entries(tool.input.shape)) {
    const { entity } = meaningOf(schema)
    const like = Object.entries(known).find(
      ([name]) => entity !== undefined && meaningOf(itemAt(step.tool.input.shape, name)).entity === entity,
    )
    const value = known[field] ?? (byKind ? like?.[1] : undefined)
    if (value !== undefined) bound[field] = value
  }
  const args = session.sampleArguments(tool, random, bound)
  if (!args) return null
  const given = Object.fromEntries(Object.entries({ ...args, ...bound }).filter(([, value]) => value !== undefined))
  return given as JsonObject
}

/** What a call tells that was not known, or the fields that it changes, each with its new value. */
function goalOf({ tool, output }: Step, known: ReadonlySet<Json>, before: Session, after: Session): Set<string> {
  if (!tool.annotations.readOnly) return changed(before, after)
  const stated = leavesOf(output)
  for (const value of known) stated.delete(String(value))
  return stated
}

function changed(before: Session, after: Session): Set<string> {
  const facts = new Set<string>()
  for (const [row, change] of changesBetween(before, after)) {
    const table = row.slice(0, row.indexOf(' '))
    if (!change.after) facts.add(`${row} gone`)
    for (const [field, value] of Object.entries(change.after ?? {})) {
      const written = JSON.stringify(value)
      if (written === JSON.stringify(change.before?.[field])) continue
      // A new row has a name and a time of its own, whichever call makes it.
      facts.add(change.before ? `${row} ${field}=${written}` : `${table} ${field}=${written}`)
    }
  }
  return facts
}

function leavesOf(value: Json): Set<string> {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' || typeof value === 'number' ? new Set([String(value)]) : new Set()
  return new Set(Object.values(value).flatMap((part) => [...leavesOf(part as Json)]))
}

function shareOf(goal: ReadonlySet<string>, got: ReadonlySet<string>): number {
  return [...goal].filter((fact) => got.has(fact)).length / goal.size
}

/** The tools of a toolset. */
export const nodesIn = (toolset: Task['toolset'], catalogue: ReadonlyMap<string, SpokenEnvironment>): Node[] =>
  toolset.map(({ environment: name, tool }) => {
    const environment = valueAt(catalogue, name)
    return { environment, tool: valueAt(environment.toolsByName, tool) }
  })
