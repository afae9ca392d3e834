import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../../../rollout/reward/index.js'
import { type Environment, entitiesIn } from '../../../servers/kernel/index.js'
import type { Example, Exchange, ReferenceCall } from '../../dataset/example.js'
import { itemAt } from '../item-at.js'
import { directionAt } from './opposites.js'
import { factsIn, figuresIn, phraseFor, placeOf, referencesIn, unitAfter } from './phrases.js'

/** Words of a user turn that must stay: they contain an argument of a call, or refer to an entity. */
export interface Need {
  readonly phrase: string
  /** Index of the ground-truth call whose argument they give; `null` where no origin says so. */
  readonly call: number | null
  /** Whether the phrase has to be separate words; false where the draft joins it to others. */
  readonly apart: boolean
  /** The word of direction before it in the draft. */
  readonly direction: string | undefined
}

/** Constraints for the words of one turn. */
export interface TurnBrief {
  readonly user: string
  readonly assistant: string
  readonly needs: readonly Need[]
  /** True if the user's words must stay unchanged, because the example does not show which values they must contain. */
  readonly frozen: boolean
  /** Figures, quotations and texts of results that the assistant's words must not lose. */
  readonly reports: readonly string[]
  /** Words, in one of which the assistant has to ask; `undefined` where nothing has to be asked. */
  readonly asksFor: readonly string[] | undefined
  /** Text of which the user may speak: everything said before, and the draft. */
  readonly knownToUser: string
  readonly knownToAssistant: string
  /** Values that only later turns give, with the phrases that give them there. */
  readonly withheld: readonly { readonly value: Json; readonly phrase: string }[]
}

export interface Brief {
  readonly today: string
  readonly turns: readonly TurnBrief[]
  /** Keys in arguments and results that the conversation never mentions. */
  readonly keys: readonly string[]
}

/**
 * Returns the constraints for the words of an example: required and forbidden content.
 * @param today  reference date, YYYY-MM-DD
 */
export function briefOf(example: Example, today: string, catalogue: ReadonlyMap<string, Environment>): Brief {
  const { exchanges, task } = example
  const { needs, frozen } = neededIn(example, today)
  const later = laterValues(example)
  const turns = exchanges.map((exchange, turn): TurnBrief => {
    const { user, assistant } = exchange
    const before = exchanges.slice(0, turn).flatMap((earlier) => [earlier.user, earlier.assistant])
    const knownToUser = [task.system ?? '', ...before, user].join('\n')
    const withheld = later.filter(
      (value) =>
        value.turn > turn &&
        placeOf(knownToUser, value.phrase) < 0 &&
        phraseFor(knownToUser, value.value, today) === undefined,
    )
    return {
      user,
      assistant,
      needs: itemAt(needs, turn),
      frozen: frozen.has(turn),
      reports: apartFrom([
        ...figuresIn(assistant),
        ...textsIn(exchange).filter((text) => placeOf(assistant, text) >= 0),
      ]),
      asksFor: task.questions?.find((question) => question.turn === turn)?.words,
      knownToUser,
      knownToAssistant: `${knownToUser}\n${assistant}`,
      withheld: withheld.map(({ value, phrase }) => ({ value, phrase })),
    }
  })
  const said = exchanges.flatMap(({ user, assistant }) => [user, assistant]).join('\n')
  const keys = keysOf(example, catalogue).filter((key) => placeOf(said, key) < 0)
  return { today, turns, keys }
}

/** Values that a user gives, each with the first turn in which it is given. */
function laterValues({ task, origins }: Example): { turn: number; value: Json; phrase: string }[] {
  return origins.flatMap((fields, call) =>
    Object.entries(fields).flatMap(([field, origin]) =>
      origin.from === 'user'
        ? [{ turn: origin.turn, value: itemAt(itemAt(task.groundTruth, call).arguments, field), phrase: origin.phrase }]
        : [],
    ),
  )
}

function neededIn(example: Example, today: string): { needs: Need[][]; frozen: Set<number> } {
  const { exchanges, task, origins } = example
  const needs: Need[][] = exchanges.map(() => [])
  const frozen = new Set<number>()
  const add = (turn: number, phrase: string, call: number | null): void => {
    const known = itemAt(needs, turn).some((need) => need.call === call && need.phrase.startsWith(phrase))
    if (!known) itemAt(needs, turn).push(needFor(itemAt(exchanges, turn).user, phrase, call))
  }
  for (const [call, fields] of origins.entries()) {
    for (const origin of Object.values(fields)) {
      if (origin.from === 'user') add(origin.turn, origin.phrase, call)
      if (origin.from !== 'result' || origin.phrase === '') continue
      // A reference stands in the turn that asks for the call, or in an earlier one that left something open.
      const asked = exchanges.findLastIndex(
        ({ user }, turn) => turn <= itemAt(task.groundTruth, call).turn && placeOf(user, origin.phrase) >= 0,
      )
      if (asked >= 0) add(asked, origin.phrase, call)
    }
  }
  for (const [turn, { user, calls }] of exchanges.entries()) {
    for (const vain of [...calls.filter(({ truth }) => truth === null), ...ruledAt(example, turn)]) {
      for (const [field, value] of Object.entries(vain.arguments)) {
        const phrase = phraseFor(user, value, today)
        if (phrase !== undefined) add(turn, phrase, null)
        else if (!isAccountedFor(example, turn, vain, field)) frozen.add(turn)
      }
    }
  }
  for (const [turn, { user }] of exchanges.entries()) {
    const shown = exchanges.slice(0, turn + 1).flatMap(textsIn)
    const named = shown.filter((text) => /[\p{Lu}\p{N} ]/u.test(text) && placeOf(user, text) >= 0)
    const given = itemAt(needs, turn).map(({ phrase }) => phrase)
    for (const phrase of apartFrom([...factsIn(user), ...referencesIn(user), ...named], given)) add(turn, phrase, null)
  }
  return { needs, frozen }
}

/** Call that a turn requests and that a domain rule prevents in this turn. */
const ruledAt = ({ domainRules }: Example, turn: number): Pick<ReferenceCall, 'name' | 'arguments'>[] =>
  domainRules === undefined || domainRules.role === 'abiding' || domainRules.turn !== turn ? [] : [domainRules.call]

/** Each phrase once, without those that stand in a longer one or in `given`. */
function apartFrom(phrases: readonly string[], given: readonly string[] = []): string[] {
  const distinct = [...new Set(phrases)]
  return distinct.filter(
    (phrase) =>
      given.every((longer) => placeOf(longer, phrase) < 0) &&
      distinct.every((other) => other === phrase || placeOf(other, phrase) < 0),
  )
}

/** Whether the argument of a call that was not made, or failed, is that of the call that makes it good, whose origin is known. */
function isAccountedFor(
  { task, origins }: Example,
  turn: number,
  vain: Pick<ReferenceCall, 'name' | 'arguments'>,
  field: string,
): boolean {
  return task.groundTruth.some(
    (call, i) =>
      call.turn >= turn &&
      call.name === vain.name &&
      isDeepStrictEqual(call.arguments[field], vain.arguments[field]) &&
      origins[i]?.[field] !== undefined,
  )
}

function needFor(draft: string, phrase: string, call: number | null): Need {
  const at = placeOf(draft, phrase)
  if (at < 0) return { phrase, call, apart: false, direction: undefined }
  // "30 minutes" must not become "30 hours".
  const unit = /^-?[\d.]+$/.test(phrase) ? unitAfter(draft, at + phrase.length) : ''
  return { phrase: phrase + unit, call, apart: true, direction: directionAt(draft, at) }
}

/** Keys of entities that people do not call by their key, anywhere in the calls and their results. */
function keysOf({ exchanges }: Example, catalogue: ReadonlyMap<string, Environment>): string[] {
  const keys = exchanges.flatMap(({ calls }) =>
    calls.flatMap((call) => {
      const environment = catalogue.get(call.environment)
      const tool = environment?.toolsByName.get(call.name)
      if (!environment || !tool) return []
      return [...entitiesIn(tool.input, call.arguments), ...entitiesIn(tool.output, JSON.parse(call.response))]
        .filter(({ entity }) => !environment.entities[entity]?.sayable)
        .map(({ key }) => key)
    }),
  )
  return [...new Set(keys)]
}

/** All texts in the results of an exchange. */
function textsIn({ calls }: Exchange): string[] {
  return [...new Set(calls.flatMap(({ response }) => leaves(JSON.parse(response))))]
}

function leaves(value: unknown): string[] {
  if (typeof value === 'string') return value.length > 1 ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : []
}
