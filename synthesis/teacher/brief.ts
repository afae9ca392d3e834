import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../../reward/index.js'
import { entitiesIn, type ServerDefinition } from '../../servers/kernel/index.js'
import type { Example, TeacherCall } from '../example.js'
import { facingAt, figuresIn, phraseFor, placeOf, unitAfter } from './phrases.js'

/** Words of a user turn that have to stay, because a call's argument is read from them. */
export interface Need {
  readonly phrase: string
  /** Index of the ground-truth call, or -1 for a call that fails and is made good. */
  readonly call: number
  /** Whether the phrase has to stand as words of its own; false where the draft joins it to others. */
  readonly apart: boolean
  /** The word of direction before it in the draft. */
  readonly facing: string | undefined
}

/** What a teacher has to keep to in one turn. */
export interface TurnBrief {
  readonly user: string
  readonly assistant: string
  readonly needs: readonly Need[]
  /** The user's words stay as they are: what they must give cannot be told from the example. */
  readonly frozen: boolean
  /** Figures and quotations that the assistant's words must not lose. */
  readonly reports: readonly string[]
  /** What the user may speak of: everything said before, and the draft. */
  readonly knownToUser: string
  readonly knownToAssistant: string
  /** Values that only later turns give, with the phrases that give them there. */
  readonly withheld: readonly { readonly value: Json; readonly phrase: string }[]
}

export interface Brief {
  readonly today: string
  readonly turns: readonly TurnBrief[]
  /** Keys of the worlds that stand in arguments and results and that nobody in the conversation says. */
  readonly keys: readonly string[]
}

/**
 * What the words of an example have to keep, and what they must not say.
 * @param today  reference date, YYYY-MM-DD
 */
export function briefOf(example: Example, today: string, catalogue: ReadonlyMap<string, ServerDefinition>): Brief {
  const { exchanges, task } = example
  const { needs, frozen } = neededIn(example, today)
  const later = laterValues(example)
  const turns = exchanges.map(({ user, assistant }, turn): TurnBrief => {
    const before = exchanges.slice(0, turn).flatMap((exchange) => [exchange.user, exchange.assistant])
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
      needs: needs[turn]!,
      frozen: frozen.has(turn),
      reports: figuresIn(assistant),
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
        ? [{ turn: origin.turn, value: task.groundTruth[call]!.arguments[field]!, phrase: origin.phrase }]
        : [],
    ),
  )
}

function neededIn(example: Example, today: string): { needs: Need[][]; frozen: Set<number> } {
  const { exchanges, task, origins } = example
  const needs: Need[][] = exchanges.map(() => [])
  const frozen = new Set<number>()
  const add = (turn: number, phrase: string, call: number): void => {
    const known = needs[turn]!.some((need) => need.call === call && need.phrase.startsWith(phrase))
    if (!known) needs[turn]!.push(needFor(exchanges[turn]!.user, phrase, call))
  }
  for (const [call, fields] of origins.entries()) {
    for (const origin of Object.values(fields)) {
      if (origin.from === 'user') add(origin.turn, origin.phrase, call)
      if (origin.from !== 'result' || origin.phrase === '') continue
      // A reference stands in the turn that asks for the call, or in an earlier one that left something open.
      const asked = exchanges.findLastIndex(
        ({ user }, turn) => turn <= task.groundTruth[call]!.turn && placeOf(user, origin.phrase) >= 0,
      )
      if (asked >= 0) add(asked, origin.phrase, call)
    }
  }
  for (const [turn, { user, calls }] of exchanges.entries()) {
    for (const failed of calls.filter(({ truth }) => truth === null)) {
      for (const [field, value] of Object.entries(failed.arguments)) {
        const phrase = phraseFor(user, value, today)
        if (phrase !== undefined) add(turn, phrase, -1)
        else if (!isAccountedFor(example, turn, failed, field)) frozen.add(turn)
      }
    }
  }
  return { needs, frozen }
}

/** Whether a failed call's argument is that of the call that makes it good, whose origin is known. */
function isAccountedFor({ task, origins }: Example, turn: number, failed: TeacherCall, field: string): boolean {
  return task.groundTruth.some(
    (call, i) =>
      call.turn >= turn &&
      call.name === failed.name &&
      isDeepStrictEqual(call.arguments[field], failed.arguments[field]) &&
      origins[i]?.[field] !== undefined,
  )
}

function needFor(draft: string, phrase: string, call: number): Need {
  const at = placeOf(draft, phrase)
  if (at < 0) return { phrase, call, apart: false, facing: undefined }
  // "30 minutes" must not become "30 hours".
  const unit = /^-?[\d.]+$/.test(phrase) ? unitAfter(draft, at + phrase.length) : ''
  return { phrase: phrase + unit, call, apart: true, facing: facingAt(draft, at) }
}

/** Keys of entities that people do not call by their key, anywhere in the calls and their results. */
function keysOf({ exchanges }: Example, catalogue: ReadonlyMap<string, ServerDefinition>): string[] {
  const keys = new Set<string>()
  for (const { server: name, name: toolName, arguments: args, response } of exchanges.flatMap(({ calls }) => calls)) {
    const server = catalogue.get(name)
    const tool = server?.toolsByName.get(toolName)
    if (!server || !tool) continue
    const found = [...entitiesIn(tool.input, args), ...entitiesIn(tool.output, JSON.parse(response))]
    for (const { entity, key } of found) if (!server.entities[entity]?.sayable) keys.add(key)
  }
  return [...keys]
}
