import type { SeededRandom } from '../../../servers/kernel/index.js'
import { itemAt, lastOf } from '../item-at.js'
import { unresolvedIn } from '../resolving/unresolved.js'
import { type Script, silentSteps, type Withheld } from './conversation-script.js'
import { isKnownInTime, namedAhead } from './known-in-time.js'
import { tellReferences } from './state-references.js'
import type { Step } from './step.js'
import type { SynthesisContext } from './synthesis-context.js'
import { callOf, type Worded } from './word-conversation.js'

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
