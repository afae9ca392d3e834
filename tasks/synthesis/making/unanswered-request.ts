import type { TaskBody } from '../../../rollout/episode/index.js'
import type { SeededRandom } from '../../../servers/kernel/index.js'
import type { Exchange } from '../../dataset/example.js'
import type { Node } from '../graph.js'
import { itemAt, lastOf } from '../item-at.js'
import { unresolvedIn } from '../resolving/unresolved.js'
import type { Ask, Moment } from '../wording/speech.js'
import { type Script, silentSteps, type Withheld } from './conversation-script.js'
import { canBeAskedWithout } from './conversation-shape.js'
import { isKnownInTime, namedAhead } from './known-before.js'
import type { ObjectionName } from './objections.js'
import { questionsDue } from './required-questions.js'
import type { Chain } from './split.js'
import { tellReferences } from './state-references.js'
import type { ExecutedChain, Step } from './step.js'
import type { Setting, SynthesisContext } from './synthesis-context.js'
import { takeSteps } from './take-steps.js'
import { askOf, callOf, putIntoWords, type Worded } from './word-conversation.js'

/** One user turn with a request that no call answers. */
export interface UnansweredRequest {
  readonly taken: ExecutedChain
  readonly script: Script
  readonly user: string
  /** The thing that the request asks for, if it is one thing. */
  readonly ask?: Ask
  /** The assistant's question, where something was left out. */
  readonly question: string
  readonly questions: NonNullable<TaskBody['questions']>
}

export interface UnansweredSetting extends Setting {
  readonly moment: Omit<Moment, 'turn'>
}

export interface UnansweredWish {
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
export function askUnanswered(
  { around, turn, length, vague = false, earlier = [], withhold }: UnansweredWish,
  setting: UnansweredSetting,
): UnansweredRequest | ObjectionName {
  const { context, moment, random } = setting
  const fits = (chain: Chain): boolean =>
    !earlier.some((before) => before.chain.some((node) => chain.includes(node))) &&
    (!withhold || canBeAskedWithout(chain))
  const wanted = { around, length: length ?? random.pick(NUMBERS_ASKED), anyLength: true, fits }
  const taken = takeSteps(wanted, setting)
  if (typeof taken === 'string') return taken
  if (taken.reversals.length > 0) return 'undone'
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

/** Returns the exchanges in which an assistant declines all requests. */
export const declinedIn = (
  turns: readonly UnansweredTurn<{ readonly ask?: Ask }>[],
  { context: { speech }, moment }: UnansweredSetting,
): Exchange[] =>
  turns.map(({ user, request }, turn) => ({
    user,
    calls: [],
    assistant: request ? speech.decline({ ...moment, turn }, request.ask) : speech.declineOnceMore({ ...moment, turn }),
  }))

/** Of the later turns of a user who is told that there is no tool, those that only insist. */
const INSISTS = 0.15

/** Words of a user turn, and the request in them. A turn that only insists has no request. */
export interface UnansweredTurn<R> {
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
export function continueUnanswered<R extends { readonly user: string }>(
  first: R,
  { assignment, context, moment }: UnansweredSetting,
  ask: (turn: number, earlier: readonly R[]) => R | ObjectionName,
  isExpected = true,
): { readonly requests: readonly R[]; readonly turns: readonly UnansweredTurn<R>[] } | ObjectionName {
  const requests = [first]
  const turns: UnansweredTurn<R>[] = [{ user: first.user, request: first }]
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

/**
 * Numbers of things that a request without an answering call is about. With these numbers, such a request has as many words as a first turn
 * that calls answer. The numbers make up for the fact that shorter requests are found more easily.
 */
export const NUMBERS_ASKED = [1, 2, 2, 2] as const

/** Share of the look-ups that need not be asked for and are not: who wants one thing done names it. */
const TAKEN_FOR_GRANTED = 0.9

/**
 * The script of one request for everything at once, which no call follows.
 * @param withheld  a value that it leaves out
 * @param vague  whether it only names the goal
 * @param aloud  whether look-ups that a person would take for granted are asked for all the same
 * @param understood  whether a part of it is done
 * @param inTime  whether it says nothing that is only to be found out
 * @returns `null` when it cannot be asked for at once, because something can only be meant by what is found first
 */
export function askForAll(
  walked: readonly Step[],
  random: SeededRandom,
  {
    withheld,
    vague = false,
    aloud = false,
    understood = aloud,
    inTime = true,
  }: {
    readonly withheld?: Withheld
    readonly vague?: boolean
    readonly aloud?: boolean
    readonly understood?: boolean
    readonly inTime?: boolean
  } = {},
): Script | null {
  const asks = [...walked.keys()]
  const steps = tellReferences(walked, [asks], { stated: true, unheard: !understood, inTime }, random)
  if (!steps) return null
  const silent = withheld || vague || aloud ? new Set<number>() : silentSteps(steps, [asks], random, TAKEN_FOR_GRANTED)
  // Who names what a look-up would show knows it already, and does not ask for the look-up.
  if (inTime && !understood) for (const index of namedAhead(steps, asks, silent)) silent.add(index)
  if (inTime && !vague && !isKnownInTime(steps, [asks], silent)) return null
  return {
    steps,
    turns: vague
      ? [{ says: 'vague', ask: lastOf(asks), steps: [] }]
      : [{ says: 'request', asks, steps: [], ...(withheld ? { withheld } : {}) }],
    information: vague ? 'minimal' : withheld ? 'missing' : 'complete',
    recovery: null,
    silent,
  }
}

/** Whether a listener would understand the request if its calls could be made. */
export function isUnderstood(
  { steps }: Script,
  { exchanges, origins }: Worded,
  { profile, catalogue }: SynthesisContext,
): boolean {
  const calls = steps.map(callOf)
  const groundTruth = steps.map(({ tool, args }) => ({ name: tool.name, arguments: args }))
  const asked = {
    exchanges: [{ ...itemAt(exchanges, 0), calls }],
    speech: profile.speech,
    origins,
    task: { groundTruth },
  }
  return unresolvedIn(asked, catalogue).length === 0
}
