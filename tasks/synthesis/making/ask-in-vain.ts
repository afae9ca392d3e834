import type { TaskBody } from '../../../rollout/episode/index.js'
import { deriveSeed, seededRandom } from '../../../servers/kernel/index.js'
import type { DropReason } from '../../dataset/example.js'
import type { Ask, Moment } from '../wording/speech.js'
import { askForAll, isUnderstood, NUMBERS_ASKED } from './ask-for-all.js'
import type { Script, Withheld } from './conversation-script.js'
import { canBeAskedWithout } from './conversation-shape.js'
import { questionsDue } from './questions-due.js'
import type { Chain } from './split.js'
import type { Step } from './step.js'
import type { Assignment, SynthesisContext } from './synthesis-context.js'
import { type Taken, takeSteps } from './take-steps.js'
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

export interface VainSetting {
  readonly assignment: Assignment
  readonly environmentSeed: number
  readonly context: SynthesisContext
  readonly moment: Omit<Moment, 'turn'>
}

export interface VainWish {
  /** Index of the user turn. A later one moves on from what was declined or asked before. */
  readonly turn: number
  readonly length?: number
  readonly vague?: boolean
  /** Earlier requests that no call answered. A user does not repeat such a request as if for the first time. */
  readonly earlier?: readonly { readonly chain: Chain }[]
  /** Draws a value to leave out; `undefined` when the steps have none. */
  withhold?(steps: readonly Step[]): Withheld | undefined
}

/** A request around `core` that is put into words, and understood by a listener unless it only names the goal. */
export function askInVain(
  core: Chain,
  { turn, length, vague = false, earlier = [], withhold }: VainWish,
  { assignment, environmentSeed, context, moment }: VainSetting,
): VainRequest | DropReason {
  const { random } = moment
  const fits = (chain: Chain): boolean =>
    !earlier.some((before) => before.chain.some((node) => chain.includes(node))) &&
    (!withhold || canBeAskedWithout(chain))
  const drawn = length ?? random.pick(NUMBERS_ASKED)
  const taken = takeSteps(assignment, core, drawn, environmentSeed, context, random, { fits })
  if (typeof taken === 'string') return taken
  if (taken.undoings.length > 0) return 'undone'
  const withheld = withhold?.(taken.steps)
  if (withhold && !withheld) return 'no_script'
  const inTime = context.profile.speech === 'natural'
  const script = askForAll(taken.steps, random, { vague, inTime, ...(withheld ? { withheld } : {}) })
  if (!script) return 'no_script'
  const worded = putIntoWords(script, context.speech, moment, turn)
  const due = worded && questionsDue(script, worded)
  if (!worded || !due) return 'no_words'
  if (!vague && !isUnderstood(script, worded, context)) return 'reference'
  const { user, assistant } = worded.exchanges[0]!
  const questions = (due.questions ?? []).map((question) => ({ ...question, turn }))
  const [ask, ...others] = script.steps.map((_, i) => askOf(script.steps, i, script)).filter(({ silent }) => !silent)
  return { taken, script, user, ...(ask && others.length === 0 ? { ask } : {}), question: assistant, questions }
}

/**
 * As many user turns as conversations with calls have, so that their number does not tell that there is nothing to call. Drawn once per
 * round, so that the longer ones, which are harder to find, keep their share.
 */
export function turnsInVain({ index, round }: Assignment, { profile, seed }: SynthesisContext): number {
  if (profile.speech === 'plain') return 1
  const random = seededRandom(deriveSeed('prove/turns-in-vain/1', seed, index, round))
  const [second, third] = profile.nextTurn
  if (!random.chance(second)) return 1
  return random.chance(third) ? 3 : 2
}

/** Draws for a later request before the whole candidate is given up. */
const TRIES = 4

/** Tries several times to find something. @returns the reason of the last try when none found it */
export function triedOften<T>(
  attempt: () => T | DropReason | 'other_split',
  tries = TRIES,
): T | DropReason | 'other_split' {
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
  ask: (turn: number, earlier: readonly R[]) => R | DropReason | 'other_split',
  isExpected = true,
): { readonly requests: readonly R[]; readonly turns: readonly VainTurn<R>[] } | DropReason | 'other_split' {
  const requests = [first]
  const turns: VainTurn<R>[] = [{ user: first.user, request: first }]
  let insisted = false
  while (turns.length < turnsInVain(assignment, context)) {
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
