import type { Json } from '../../../rollout/reward/index.js'
import { CITIES, entitiesIn, isOptional } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { aboutIn, areAtOdds, isForNothing, nameOf, takenBy } from './contradictions.js'
import { entitiesShown } from './entities-shown.js'
import { goesOn } from './purpose.js'
import type { Step } from './step.js'

/** Shortest text that counts as the same thing when it occurs in two calls, in characters. */
const TELLING_LENGTH = 4
/** Steps of a chain in which a city is enough to join two. */
const SHORT = 3
const NONE: ReadonlySet<string> = new Set()
const CITY_NAMES = CITIES.map(({ city }) => city)

/**
 * Returns whether a person would have one reason for all of the steps. All acting steps have to be about the same thing, as directly as
 * their calls show it. Such a step names the same entity, or takes over what an earlier call made or showed of one thing. Or it shows what
 * an earlier call changed. That two things were found in the same list is no reason to do one after the other.
 */
export function hasOnePurpose(steps: readonly Step[]): boolean {
  const finds = steps.map((step, i) => isSearch(step) && usersOf(steps, i).length > 0)
  // What is found and then left is the end of an errand, not its middle.
  if (steps.some((step, i) => i < steps.length - 1 && !finds[i] && isSearch(step))) return false
  // Rooms that are free for one meeting are not looked for to book one for another.
  if (steps.some((step, i) => finds[i] && usersOf(steps, i).some((user) => areApart(step, itemAt(steps, user), NONE))))
    return false
  const acting = steps.filter((_, i) => !finds[i])
  const made = new Set(
    steps.flatMap(({ tool, args, output }) =>
      tool.annotations.readOnly
        ? []
        : thingsOf({ tool, args: {}, output }).filter((thing) => !takenBy({ tool, args } as Step).includes(thing)),
    ),
  )
  if (
    acting.some(
      (later, j) => isTorn(later, steps) || acting.slice(0, j).some((earlier) => areApart(earlier, later, made)),
    )
  )
    return false
  if (steps.some((_, i) => isForNothing(steps, i)) || areAtOdds(steps) || changesHowItTravels(steps)) return false
  const groups = steps.map((_, i) => i)
  const join = (a: number, b: number): void => {
    const [from, to] = [itemAt(groups, a), itemAt(groups, b)]
    for (const [i, group] of groups.entries()) if (group === from) groups[i] = to
  }
  for (const [j, later] of steps.entries()) {
    for (const [i, earlier] of steps.slice(0, j).entries()) {
      if (
        !isAbout(earlier, i, later, {
          listed: itemAt(finds, i),
          isLastLook: !finds[j] && isSearch(later),
          isShort: steps.length <= SHORT,
        })
      )
        continue
      if (!finds[i] && !finds[j]) join(i, j)
      // What is found about a thing belongs to it, each entry by itself.
      else if (!finds[i]) for (const user of usersOf(steps, j)) join(i, user)
    }
    // The search itself may come first: what is done with the thing that it is about belongs to what it finds.
    if (!finds[j]) continue
    for (const [k, after] of steps.entries()) {
      if (k > j && !finds[k] && shares(thingsOf(later), thingsOf(after)))
        for (const user of usersOf(steps, j)) join(k, user)
    }
  }
  return new Set(groups.filter((_, i) => !finds[i])).size <= 1
}

const WITHOUT_A_CAR: ReadonlySet<unknown> = new Set(['walking', 'cycling', 'transit'])

/** Whether a way is looked for without a car that a car is sent then. */
const changesHowItTravels = (steps: readonly Step[]): boolean =>
  steps.some(({ args }) => WITHOUT_A_CAR.has(args.mode)) && steps.some(({ environment }) => environment.drives)

const usersOf = (steps: readonly Step[], source: number): number[] =>
  steps.flatMap(({ bindings }, i) => (bindings.some((binding) => binding.source === source) ? [i] : []))

/** A look-up whose result is about no one thing: a list of those that fit. */
const isSearch = ({ tool, output }: Step): boolean =>
  tool.annotations.readOnly === true && thingsOf({ tool, args: {}, output }).length === 0

interface Bearing {
  /** Of the earlier result single entries are taken, which says nothing of the others. */
  readonly listed: boolean
  /** The later call is a search from which nothing is taken. */
  readonly isLastLook: boolean
  /** So few steps that one in the same city as another is for its sake. */
  readonly isShort: boolean
}

function isAbout(earlier: Step, at: number, later: Step, { listed, isLastLook, isShort }: Bearing): boolean {
  const carried = later.bindings.some(({ source, entity, value }) => {
    // Out of one environment somebody takes what they have looked up; what they have done there is done.
    if (source !== at || (earlier.environment !== later.environment && !goesOn(earlier, later))) return false
    // Where something belongs is no reason to go through all that is there.
    if (entity !== undefined && isLastLook && !thingsOf(earlier).includes(`${entity} ${value}`)) return false
    return true
  })
  if (carried && !listed) return true
  if (earlier.environment !== later.environment) return false
  return shares(thingsOf(earlier), thingsOf(later)) || prepares(earlier, later, isShort)
}

/** The things that a call is about: those that it must be given, and those at the top of its result. */
function thingsOf({ tool, args, output }: Pick<Step, 'tool' | 'args' | 'output'>): string[] {
  const required = Object.fromEntries(
    Object.entries(args).filter(([field]) => !isOptional(itemAt(tool.input.shape, field))),
  )
  return [...entitiesIn(tool.input, required), ...aboutIn(tool, output)].map(nameOf)
}

const kindOf = (thing: string): string => thing.slice(0, thing.indexOf(' '))

/** Two calls on two things of a kind, of which neither was made on the way, are two errands, whatever list both were found in. */
function areApart(earlier: Step, later: Step, made: ReadonlySet<string>): boolean {
  if (earlier.environment !== later.environment) return false
  const [a, b] = [takenBy(earlier), takenBy(later)]
  const [object, other] = [a[0], b[0]]
  if (object === undefined || other === undefined || kindOf(object) !== kindOf(other) || made.has(other)) return false
  return !a.some((thing) => kindOf(thing) === kindOf(object) && b.includes(thing))
}

/** Whether what is joined in one call is in two cities or months: a room in one for a trip to another. */
function isTorn({ args, bindings, output }: Step, steps: readonly Step[]): boolean {
  const cities = bindings.map(({ source, value }) => {
    const { args, output } = itemAt(steps, source)
    const row = Object.values(output)
      .flatMap((part) => (Array.isArray(part) ? part : []))
      .find((entry) => Object.values(entry ?? {}).includes(value))
    const text = JSON.stringify([
      Object.values(args),
      row ?? Object.values(output).filter((part) => !Array.isArray(part)),
    ])
    return CITY_NAMES.filter((city) => text.includes(city))
  })
  const months = bindings.flatMap(({ source }) => (itemAt(steps, source).output.month ?? []) as string[])
  if (typeof output.month === 'string' && months.some((month) => month !== output.month)) return true
  const stops = Object.values(args).flatMap((value) => CITY_NAMES.filter((city) => String(value).endsWith(`, ${city}`)))
  // A stop in a city where the way neither begins nor ends is no stop.
  if (stops.length > 2 && stops.some((city) => stops.filter((other) => other === city).length === 1)) return true
  const known = cities.filter((found) => found.length > 0)
  return known.some((found) => known.some((others) => !found.some((city) => others.includes(city))))
}

const shares = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((thing) => others.includes(thing))

/** Whether the later call needs what the earlier one made true, and is about nothing else than that. */
function prepares(earlier: Step, later: Step, isShort: boolean): boolean {
  if (!(later.tool.needs ?? []).some((fact) => earlier.tool.establishes?.includes(fact))) return false
  const [before, after] = [thingsOf(earlier), thingsOf(later)]
  if (!later.tool.annotations.readOnly)
    return before.length === 0 || after.length === 0 || occursIn(earlier, later, isShort)
  return entitiesShown(later).length === 0 || occursIn(earlier, later, isShort)
}

/** Whether a name, place or other text of the earlier call occurs in the later one. */
function occursIn(earlier: Step, later: Step, isShort: boolean): boolean {
  const texts = [earlier.args, earlier.output].flatMap((part) =>
    Object.values(part).filter(
      (value) =>
        typeof value === 'string' && value.length >= TELLING_LENGTH && (isShort || !CITY_NAMES.includes(value)),
    ),
  ) as string[]
  const words = JSON.stringify([later.args as Json, later.output])
  return texts.some((text) => words.includes(text))
}
