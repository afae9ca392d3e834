import type { JsonObject } from '../../../rollout/reward/index.js'
import type { DeclineRule } from '../../../servers/kernel/index.js'
import type { Exchange, Origin, ReferenceCall } from '../../dataset/example.js'
import { itemAt } from '../item-at.js'
import type { Way } from '../way.js'
import { answerToRuled, declineAgain, leave } from '../wording/assistant-replies.js'
import type { Speech } from '../wording/natural-speech.js'
import type { Ask, Mentioned, Moment, Said } from '../wording/speech.js'
import { agree, insistOnRuled, withdraw } from '../wording/user-replies.js'
import type { Script, Turn } from './conversation-script.js'
import type { StatedStep } from './step.js'

/** A conversation in words, with the evidence for every argument. */
export interface Worded {
  readonly exchanges: readonly Exchange[]
  readonly origins: readonly Readonly<Record<string, Origin>>[]
  /** Per step, the exchange in which the assistant takes it. */
  readonly turnOf: readonly number[]
}

/**
 * Puts a script into words, turn by turn, and notes which words give which argument.
 * @param before  user turns that came before and led to nothing: the script moves on from them
 * @returns `null` when something in it cannot be said
 */
export function putIntoWords(script: Script, speech: Speech, moment: Omit<Moment, 'turn'>, before = 0): Worded | null {
  const { steps } = script
  const origins: Record<string, Origin>[] = steps.map(({ bindings }) =>
    Object.fromEntries(
      bindings.map(({ field, source, way }) => [field, { from: 'result', call: source, phrase: meaning(way) }]),
    ),
  )
  const turnOf: number[] = []
  const exchanges: Exchange[] = []
  for (const [index, turn] of script.turns.entries()) {
    const after = index === 0 ? (before > 0 ? (moment.after ?? 'failure') : undefined) : understoodBefore(script, index)
    const again = isHopeless(turn, script)
    const at: Moment = { ...moment, turn: before + index, ...(after ? { after } : {}), ...(again ? { again } : {}) }
    const spoken = speak(turn, steps, script, speech, at)
    if (!spoken) return null
    for (const { step, phrases, mentions, skip } of spoken.evidence) {
      for (const [field, said] of mentions) {
        const origin = itemAt(origins, step)[field]
        if (origin?.from === 'result') itemAt(origins, step)[field] = { ...origin, said: { turn: index, ...said } }
      }
      for (const [field, phrase] of phrases) {
        if (field === skip || itemAt(origins, step)[field]?.from === 'result') continue
        itemAt(origins, step)[field] = { from: 'user', turn: index, phrase }
      }
    }
    for (const step of turn.steps) turnOf[step] = index
    exchanges.push({
      user: spoken.text,
      calls: callsOf(turn, steps),
      assistant: answer(turn, steps, script, speech, at),
    })
  }
  fillFromOthers(steps, script, origins)
  return { exchanges, origins, turnOf }
}

/** The same after an exchange in which nothing was done. */
export function precededBy(exchange: Exchange, { exchanges, origins, turnOf }: Worded): Worded {
  const later = (origin: Origin): Origin => {
    if (origin.from === 'user') return { ...origin, turn: origin.turn + 1 }
    if (origin.from !== 'result' || !origin.said) return origin
    return { ...origin, said: { ...origin.said, turn: origin.said.turn + 1 } }
  }
  return {
    exchanges: [exchange, ...exchanges],
    origins: origins.map((fields) =>
      Object.fromEntries(Object.entries(fields).map(([field, origin]) => [field, later(origin)])),
    ),
    turnOf: turnOf.map((turn) => turn + 1),
  }
}

/** Whether a turn ends with the assistant saying what has to be done first. */
const isObstacle = (turn: Turn | undefined): boolean => turn?.failed !== undefined && turn.failed.field === undefined

/** What the assistant said last. */
function understoodBefore({ steps, turns }: Script, index: number): NonNullable<Moment['after']> {
  const { says, steps: taken } = itemAt(turns, index - 1)
  if (says === 'vague') return 'question'
  if (isObstacle(turns[index - 1])) return 'obstacle'
  const last = taken.at(-1)
  return last !== undefined && itemAt(steps, last).tool.annotations.readOnly ? 'found' : 'changed'
}

/** Whether something is asked for once more that cannot be done then. */
const isHopeless = ({ failed, steps }: Turn, { recovery }: Script): boolean =>
  failed !== undefined && steps.length === 0 && recovery === 'gave-up'

interface Spoken {
  readonly text: string
  readonly evidence: readonly {
    readonly step: number
    readonly phrases: ReadonlyMap<string, string>
    readonly mentions: ReadonlyMap<string, Mentioned>
    /** A field whose words give a wrong value, which a later turn corrects. */
    readonly skip?: string | undefined
  }[]
}

function speak(
  turn: Turn,
  steps: readonly StatedStep[],
  script: Script,
  speech: Speech,
  at: Moment,
): Spoken | undefined {
  const tokenScoreOf = (
    indexes: readonly number[],
    said: Said,
    wrong?: { step: number; field?: string | undefined },
  ): Spoken => ({
    text: said.text,
    evidence: indexes.map((step, i) => ({
      step,
      phrases: said.phrases[i] ?? new Map(),
      mentions: said.mentions[i] ?? new Map(),
      skip: wrong?.step === step ? wrong.field : undefined,
    })),
  })
  switch (turn.says) {
    case 'vague': {
      const text = speech.vague(askOf(steps, turn.ask, script), at)
      return text === undefined ? undefined : { text, evidence: [] }
    }
    case 'agreed':
      return { text: agree(at), evidence: [] }
    case 'withdrawn':
      return { text: withdraw(at), evidence: [] }
    case 'insisted':
      return { text: insistOnRuled(at), evidence: [] }
    case 'supply':
    case 'correct': {
      const ask = askOf(steps, turn.ask, script)
      const said = turn.says === 'supply' ? speech.supply(ask, turn.field, at) : speech.correct(ask, turn.field, at)
      return said && tokenScoreOf([turn.ask], said)
    }
    case 'request': {
      const asks = turn.asks.map((index) => {
        const ask = askOf(steps, index, script)
        if (turn.withheld?.step === index) return { ...ask, withheld: turn.withheld.field }
        const other = turn.failed ?? turn.ruled
        return other?.step === index ? { ...ask, args: other.args } : ask
      })
      const said = speech.request(asks, at)
      // What is asked for in vain at the end is no part of the ground truth.
      return (
        said &&
        (isHopeless(turn, script)
          ? { text: said.text, evidence: [] }
          : tokenScoreOf(turn.asks, said, turn.failed ?? turn.ruled))
      )
    }
  }
}

export function askOf(steps: readonly StatedStep[], index: number, { silent }: Pick<Script, 'silent'>): Ask {
  const { environment, tool, args, bindings } = itemAt(steps, index)
  const references = new Map(bindings.map(({ field, way }) => [field, way]))
  return { environment, tool, args, references, ...(silent.has(index) ? { silent: true } : {}) }
}

export function callOf({ environment, tool, args, output }: StatedStep, truth: number): ReferenceCall {
  return {
    environment: environment.name,
    name: tool.name,
    arguments: args,
    response: JSON.stringify(output),
    ok: true,
    truth,
  }
}

function callsOf({ steps: taken, failed }: Turn, steps: readonly StatedStep[]): ReferenceCall[] {
  const calls = taken.map((index) => callOf(itemAt(steps, index), index))
  if (!failed) return calls
  const { environment, tool } = itemAt(steps, failed.step)
  const attempt: ReferenceCall = {
    environment: environment.name,
    name: tool.name,
    arguments: failed.args,
    response: JSON.stringify({ error: failed.code, message: failed.message }),
    ok: false,
    truth: null,
  }
  return [...calls, attempt]
}

/** What was found and done comes first, then what the assistant needs to know or could not do. */
function answer(turn: Turn, steps: readonly StatedStep[], script: Script, speech: Speech, at: Moment): string {
  if (turn.says === 'vague') return speech.question(askOf(steps, turn.ask, script), undefined, at)
  if (turn.says === 'withdrawn') return leave(at)
  if (turn.says === 'insisted') return declineAgain(turn.about.rule as DeclineRule, at)
  const done = turn.steps.map((index) => ({
    ask: askOf(steps, index, script),
    output: itemAt(steps, index).output as JsonObject,
  }))
  const isStated = done.some(({ ask }) => !ask.silent)
  const first = isStated ? `${speech.report(done, { ...at, goesOn: true })} ` : ''
  if (turn.says === 'request' && turn.withheld)
    return (
      first +
      speech.question(askOf(steps, turn.withheld.step, script), turn.withheld.field, { ...at, goesOn: isStated })
    )
  if (turn.failed) {
    const ask = { ...askOf(steps, turn.failed.step, script), args: turn.failed.args }
    return first + speech.failure(ask, turn.failed.message, { ...at, goesOn: isStated })
  }
  if (turn.says === 'request' && turn.ruled) return first + answerToRuled(turn.ruled, { ...at, goesOn: isStated })
  return speech.report(done, at)
}

/** How an entity of a result is meant, in a word or two. */
function meaning(way: Way): string {
  switch (way.how) {
    case 'only':
      return `the only ${way.noun}`
    case 'label':
      return way.label
    case 'place':
      return way.of === undefined ? `${way.noun} ${way.place}` : `${way.noun} ${way.place} of ${way.of}`
    case 'extreme':
      return `the ${way.noun} with the ${way.most} ${way.field}`
    case 'value':
      return way.value
  }
}

/** A step that nobody asked for takes its values from what was said about the step that it serves. */
function fillFromOthers(steps: readonly StatedStep[], { silent }: Script, origins: Record<string, Origin>[]): void {
  for (const index of silent) {
    for (const [field, value] of Object.entries(itemAt(steps, index).args)) {
      if (itemAt(origins, index)[field]) continue
      for (const [j, other] of steps.entries()) {
        const [twin] =
          Object.entries(other.args).find(([name, known]) => known === value && itemAt(origins, j)[name]) ?? []
        if (twin !== undefined && j !== index) itemAt(origins, index)[field] = itemAt(itemAt(origins, j), twin)
      }
    }
  }
}
