import type { TaskBody } from '../../../rollout/episode/index.js'
import type { Node } from '../graph.js'
import { itemAt } from '../item-at.js'
import type { Ask, Moment } from '../wording/speech.js'
import { askForAll, isUnderstood, NUMBERS_ASKED } from './ask-for-all.js'
import type { Script, Withheld } from './conversation-script.js'
import { canBeAskedWithout } from './conversation-shape.js'
import type { ObjectionName } from './objections.js'
import { questionsDue } from './questions-due.js'
import type { Chain } from './split.js'
import type { Step } from './step.js'
import type { Setting } from './synthesis-context.js'
import { takeSteps } from './take-steps.js'
import type { Taken } from './taken.js'
import { askOf, putIntoWords } from './word-conversation.js'

/** One user turn with a request that no call answers. */
export interface VainRequest {
  readonly taken: Taken
  readonly script: Script
  readonly user: string
  /** The thing that the request asks for, if it is one thing. */
  readonly ask?: Ask
  /** The assistant's question, where something was left out. */
  readonly question: string
  readonly questions: NonNullable<TaskBody['questions']>
}

export interface VainSetting extends Setting {
  readonly moment: Omit<Moment, 'turn'>
}

export interface VainWish {
  /** Index of the user turn. A later one moves on from what was declined or asked before. */
  readonly turn: number
  readonly around: Node
  readonly length?: number
  readonly vague?: boolean
  /** Earlier requests that no call answered. A user does not repeat such a request as if for the first time. */
  readonly earlier?: readonly { readonly chain: Chain }[]
  /** Draws a value to leave out; `undefined` when the steps have none. */
  withhold?(steps: readonly Step[]): Withheld | undefined
}

/** A request around a tool that is put into words, and understood by a listener unless it only names the goal. */
export function askInVain(
  { around, turn, length, vague = false, earlier = [], withhold }: VainWish,
  setting: VainSetting,
): VainRequest | ObjectionName {
  const { context, moment, random } = setting
  const fits = (chain: Chain): boolean =>
    !earlier.some((before) => before.chain.some((node) => chain.includes(node))) &&
    (!withhold || canBeAskedWithout(chain))
  const wanted = { around, length: length ?? random.pick(NUMBERS_ASKED), anyLength: true, fits }
  const taken = takeSteps(wanted, setting)
  if (typeof taken === 'string') return taken
  if (taken.undoings.length > 0) return 'undone'
  const withheld = withhold?.(taken.steps)
  if (withhold && !withheld) return 'no_script'
  const inTime = context.profile.speech === 'natural'
  const script = askForAll(taken.steps, random, { vague, inTime, ...(withheld ? { withheld } : {}) })
  if (!script) return 'no_script'
  const worded = putIntoWords(script, context.speech, moment, turn)
  const due = worded && questionsDue(script, worded)
  if (!worded) return 'no_words'
  if (!due) return 'no_question'
  if (!vague && !isUnderstood(script, worded, context)) return 'reference'
  const { user, assistant } = itemAt(worded.exchanges, 0)
  const questions = (due.questions ?? []).map((question) => ({ ...question, turn }))
  const [ask, ...others] = script.steps.map((_, i) => askOf(script.steps, i, script)).filter(({ silent }) => !silent)
  return { taken, script, user, ...(ask && others.length === 0 ? { ask } : {}), question: assistant, questions }
}

/** Draws for a later request before the whole candidate is given up. */
const TRIES = 4

/** Tries several times to find something. @returns the reason of the last try when none found it */
export function triedOften<T>(attempt: () => T | ObjectionName, tries = TRIES): T | ObjectionName {
  let made = attempt()
  for (let left = tries - 1; left > 0 && typeof made === 'string'; left--) made = attempt()
  return made
}

/** Of the later turns of a user who is told that there is no tool, those that only insist. */
const INSISTS = 0.15

/** Words of a user turn, and the request in them. A turn that only insists has no request. */
export interface VainTurn<R> {
  readonly user: string
  readonly request?: R
}

/**
 * Returns all turns of a user whom no offered tool serves. After the first request, the user makes further ones or insists on what was
 * declined. The user never insists twice in a row, and never insists where an assistant is not expected to be able to do it.
 * @param ask  a further request, tried several times
 * @param isExpected  whether an assistant could be expected to do such things
 * @returns  the requests, and all turns
 */
export function goOnInVain<R extends { readonly user: string }>(
  first: R,
  { assignment, context, moment }: VainSetting,
  ask: (turn: number, earlier: readonly R[]) => R | ObjectionName,
  isExpected = true,
): { readonly requests: readonly R[]; readonly turns: readonly VainTurn<R>[] } | ObjectionName {
  const requests = [first]
  const turns: VainTurn<R>[] = [{ user: first.user, request: first }]
  let insisted = false
  while (turns.length < assignment.requests) {
    const turn = turns.length
    insisted = isExpected && !insisted && moment.random.chance(INSISTS)
    if (insisted) {
      turns.push({ user: context.speech.insist({ ...moment, turn }) })
      continue
    }
    const next = triedOften(() => ask(turn, requests))
    if (typeof next === 'string') return next
    requests.push(next)
    turns.push({ user: next.user, request: next })
  }
  return { requests, turns }
}
