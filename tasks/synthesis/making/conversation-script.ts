import type { Json } from '../../../rollout/reward/index.js'
import { isOptional, meaningOf, type SeededRandom } from '../../../servers/kernel/index.js'
import type { Information, Recovery } from '../../dataset/example.js'
import type { Profile } from '../../dataset/profile.js'
import { itemAt, lastOf } from '../item-at.js'
import { canLeaveOut } from '../wording/request-clause.js'
import { isAskedAtOnce } from './asked-together.js'
import { hasDetails, isWhole, partsOf, type Shape } from './conversation-shape.js'
import { entitiesTaken } from './entities-shown.js'
import { type FailedCall, failingVariant, playUpTo } from './failed-call.js'
import { isHasty, isKnownInTime } from './known-before.js'
import { canBeStated, tellReferences } from './state-references.js'
import type { ExecutedChain, Open, Parts, Reversal, RuledStep, StatedStep } from './step.js'
import { isPreparedBy } from './wiring.js'

/** Purpose of one user turn, and the steps of the ground truth that the assistant takes in it. */
export type Turn = {
  readonly steps: readonly number[]
  readonly failed?: FailedCall
} & (
  | {
      readonly says: 'request'
      readonly asks: readonly number[]
      readonly withheld?: Withheld
      readonly ruled?: RuledStep
    }
  | { readonly says: 'vague'; readonly ask: number }
  | { readonly says: 'supply'; readonly ask: number; readonly field: string }
  | { readonly says: 'correct'; readonly ask: number; readonly field: string }
  /** After the assistant declined, or asked whether to go on with, what a rule is about. */
  | { readonly says: 'agreed' | 'withdrawn' | 'insisted'; readonly about: RuledStep }
)

export interface Withheld {
  readonly step: number
  readonly field: string
}

/** A conversation before it is put into words. */
export interface Script {
  /** The calls of the ground truth, with how the user means what they take over. */
  readonly steps: readonly StatedStep[]
  readonly turns: readonly Turn[]
  readonly information: Information
  readonly recovery: Recovery | null
  /** Steps that the user takes for granted and does not ask for. */
  readonly silent: ReadonlySet<number>
}

/**
 * Runs the conversation's state machine (paper, section 3.2). It decides which steps the user asks for in which turn, and how much is
 * said at first. It also decides what goes wrong on the way, and when the conversation ends.
 * @returns `null` when the steps do not carry a conversation of this shape
 */
export function scriptConversation(
  { steps: walked, open, reversals }: ExecutedChain,
  { requests, information, recovery }: Shape,
  profile: Profile,
  random: SeededRandom,
): Script | null {
  if (requests > walked.length) return null
  const isNatural = profile.speech === 'natural'
  const hearing = { stated: isNatural, inTime: isNatural }
  const fits = (parts: Parts): boolean => {
    const isAtOnce = ({ earlier, later }: Reversal): boolean =>
      parts.some((part) => part.includes(earlier) && part.includes(later))
    if (isNatural && parts.some((part) => isHasty(walked, part))) return false
    return !reversals.some(isAtOnce) && (!isNatural || canBeStated(walked, parts, hearing))
  }
  const parts = isNatural
    ? partitionOf(partsOf(walked, { requests, information }).filter(fits), random)
    : partition(walked.length, requests, random)
  if (!parts || !fits(parts)) return null
  const steps = tellReferences(walked, parts, hearing, random)
  if (!steps) return null
  const silent = profile.keys === 'looked-up' ? silentSteps(steps, parts, random) : new Set<number>()
  if (isNatural && !isKnownInTime(steps, parts, silent)) return null
  const material = { parts, steps, open, random }
  const scripted = requestsOf(material, information, silent, recovery)
  if (!scripted) return null
  if (recovery !== 'other-tool') return { steps, turns: scripted, information, recovery, silent }
  const found = otherToolFirst(material, scripted)
  return found && { steps, turns: found, information, recovery, silent }
}

/** Draws of a partition, of which the one with the shortest longest turn is taken: people do not ask for everything at once. */
const PARTITIONS = 3

function partition(length: number, parts: number, random: SeededRandom): Parts {
  return leastAtOnce(Array.from({ length: PARTITIONS }, () => drawPartition(length, parts, random)))
}

/** The same of the partitions that fit: there are six at most. */
function partitionOf(fitting: readonly Parts[], random: SeededRandom): Parts | undefined {
  if (fitting.length === 0) return undefined
  return leastAtOnce(Array.from({ length: PARTITIONS }, () => random.pick(fitting)))
}

const leastAtOnce = (drawn: readonly Parts[]): Parts => {
  const longest = (parts: Parts): number => Math.max(...parts.map((steps) => steps.length))
  return drawn.reduce((best, other) => (longest(other) < longest(best) ? other : best))
}

/** Cuts `0 .. length - 1` into `parts` runs, none empty. */
function drawPartition(length: number, parts: number, random: SeededRandom): number[][] {
  const inner = Array.from({ length: length - 1 }, (_, i) => i + 1)
  const cuts = [0, ...random.sample(inner, parts - 1).sort((a, b) => a - b), length]
  return cuts.slice(0, -1).map((from, i) => Array.from({ length: itemAt(cuts, i + 1) - from }, (_, k) => from + k))
}

interface Material {
  readonly parts: Parts
  readonly steps: readonly StatedStep[]
  readonly open: Open
  readonly random: SeededRandom
}

function requestsOf(
  material: Material,
  information: Information,
  silent: ReadonlySet<number>,
  recovery: Recovery | null,
): Turn[] | null {
  const { parts, steps } = material
  const failing = recovery === 'corrected' ? drawFailingPart(material) : null
  if (recovery === 'corrected' && !failing) return null
  const open = [...parts.keys()].filter((part) => part !== failing?.part)
  const withheld =
    information === 'missing'
      ? drawWithheld(
          open.flatMap((part) => itemAt(parts, part)),
          material,
          silent,
        )
      : undefined
  if (information === 'missing' && !withheld) return null
  const turns: Turn[] = []
  for (const [i, part] of parts.entries()) {
    if (information === 'minimal' && i === 0) {
      if (!isOneGoal(part, steps, silent) || !hasDetails(itemAt(steps, lastOf(part)))) return null
      turns.push({ says: 'vague', ask: lastOf(part), steps: [] })
    }
    if (withheld && part.includes(withheld.step)) {
      const [before, after] = [(step: number) => step < withheld.step, (step: number) => step >= withheld.step]
      turns.push({ says: 'request', asks: part, withheld, steps: part.filter(before) })
      turns.push({ says: 'supply', ask: withheld.step, field: withheld.field, steps: part.filter(after) })
    } else if (failing && i === failing.part) {
      turns.push({ says: 'request', asks: part, steps: part.slice(0, -1), failed: failing.failed })
      turns.push({ says: 'correct', ask: lastOf(part), field: failing.field, steps: part.slice(-1) })
    } else {
      turns.push({ says: 'request', asks: part, steps: part })
    }
  }
  if (recovery === 'gave-up') {
    const failed = failingVariant(material, steps.length - 1, true)
    if (!failed) return null
    turns.push({ says: 'request', asks: [failed.step], steps: [], failed })
  }
  return turns
}

/** Whether the last step of a turn is what all others of it are for: somebody with two wishes does not begin with the second. */
function isOneGoal(part: readonly number[], steps: readonly StatedStep[], silent: ReadonlySet<number>): boolean {
  const serving = new Set(part.slice(-1))
  // What was asked about a thing by its name has not found it.
  for (const index of part.toReversed())
    for (const { source, value } of serving.has(index) ? itemAt(steps, index).bindings : [])
      if (
        itemAt(steps, source).environment === itemAt(steps, index).environment &&
        !Object.values(itemAt(steps, source).args).includes(value)
      )
        serving.add(source)
  return part
    .slice(0, -1)
    .every((index) => silent.has(index) || (itemAt(steps, index).tool.annotations.readOnly && serving.has(index)))
}

/** A part whose last call the user gets wrong at first. */
function drawFailingPart(material: Material): { part: number; field: string; failed: FailedCall } | null {
  const { parts, random } = material
  for (const part of random.shuffle([...parts.keys()])) {
    const failed = failingVariant(material, lastOf(itemAt(parts, part)))
    if (failed?.field !== undefined) return { part, field: failed.field, failed }
  }
  return null
}

/**
 * The user asks for a call whose precondition another tool sets up first, hears what stands in the way, and asks for both then: nobody's
 * meeting is started, and nobody's battery replaced, unasked.
 */
function otherToolFirst({ steps, open }: Material, turns: readonly Turn[]): Turn[] | null {
  for (const turn of turns) {
    const later = turn.steps.at(-1)
    if (later === undefined || turn.says !== 'request' || turn.withheld || !turn.steps.includes(later - 1)) continue
    const [first, second] = [itemAt(steps, later - 1), itemAt(steps, later)]
    if (!isSetUpBy(first, second) || ![first, second].every(isNamed)) continue
    const result = playUpTo(steps, later - 1, open)(second.environment).call(second.tool.name, second.args)
    if (result.ok) continue
    const failed = { step: later, field: undefined, args: second.args, code: result.code, message: result.message }
    const isBefore = (step: number): boolean => step < later - 1
    return turns.flatMap((each): Turn[] =>
      each === turn
        ? [
            {
              says: 'request',
              asks: [...turn.asks.filter(isBefore), later],
              steps: turn.steps.filter(isBefore),
              failed,
            },
            { says: 'request', asks: [later - 1, later], steps: [later - 1, later] },
          ]
        : [each],
    )
  }
  return null
}

/** Whether the first call makes true what the second needs, and is about no thing that the second does not say. */
function isSetUpBy(first: StatedStep, second: StatedStep): boolean {
  const known = entitiesTaken(second).map(({ key }) => key)
  return (
    !first.tool.annotations.readOnly &&
    isPreparedBy(first, second) &&
    entitiesTaken(first).every(({ key }) => known.includes(key))
  )
}

/** Whether things are meant by name, which they are by whatever is done in between. */
const isNamed = ({ bindings }: StatedStep): boolean =>
  bindings.every(({ way: { how } }) => how === 'label' || how === 'value')

/** A value that a user would have to say and has not said elsewhere. */
function drawWithheld(
  among: readonly number[],
  { parts, steps, random }: Material,
  silent: ReadonlySet<number>,
): Withheld | undefined {
  const candidates = among.flatMap((index) => {
    const { tool, args, bindings, environment } = itemAt(steps, index)
    const part = parts.find((one) => one.includes(index)) ?? []
    // Nobody goes on about a thing before having said which it is.
    const isTakenUp = part.some((later) => itemAt(steps, later).bindings.some(({ source }) => source === index))
    if (silent.has(index) || isTakenUp) return []
    return Object.entries(tool.input.shape).flatMap(([field, schema]) => {
      const value = args[field]
      const { entity } = meaningOf(schema)
      const key = entity !== undefined && !environment.entities[entity]?.sayable
      const bound = bindings.some((binding) => binding.field === field)
      if (
        isOptional(schema) ||
        key ||
        bound ||
        isWhole(tool, Object.keys(args), field) ||
        !canLeaveOut(itemAt(steps, index), Object.keys(args), field) ||
        (typeof value === 'number' && !Number.isInteger(value)) ||
        (typeof value !== 'string' && typeof value !== 'number')
      )
        return []
      const elsewhere = steps.some((other, j) => j !== index && Object.values(other.args).includes(value as Json))
      return elsewhere ? [] : [{ step: index, field }]
    })
  })
  return candidates.length > 0 ? random.pick(candidates) : undefined
}

/**
 * Chooses look-ups that a person would take for granted. Such a look-up has no arguments that would have to be said. A call in the
 * same turn follows it and uses its result by name.
 * @param share  share of the possible look-ups
 */
export function silentSteps(
  steps: readonly StatedStep[],
  parts: readonly (readonly number[])[],
  random: SeededRandom,
  share = 0.85,
): Set<number> {
  const silent = new Set<number>()
  for (const part of parts) {
    for (const index of part.slice(0, -1)) {
      const { tool, args } = itemAt(steps, index)
      const using = part.filter((later) => itemAt(steps, later).bindings.some(({ source }) => source === index))
      const users = using.flatMap((later) => itemAt(steps, later).bindings.filter(({ source }) => source === index))
      // What is not even looked for by name has to be taken for granted, or nobody could know the name; so has what nobody asks for and uses at once.
      const isOpen =
        Object.keys(args).length > 0 &&
        using.every((later) =>
          users.every(
            ({ entity }) => entity === undefined || isAskedAtOnce(itemAt(steps, index), entity, itemAt(steps, later)),
          ),
        )
      if (!tool.annotations.readOnly || (isOpen && !random.chance(share))) continue
      const named = users.flatMap(({ way }) => (way.how === 'label' ? [way.label] : []))
      if (users.length === 0 || named.length < users.length) continue
      if (Object.values(args).every((value) => named.includes(value as string))) silent.add(index)
    }
  }
  return silent
}
