import { exampleOf, toolsetOf } from '../../../rollout/episode/index.js'
import { type Json, type JsonObject, PAPER, solvedExactly } from '../../../rollout/reward/index.js'
import type { Session, SpokenEnvironment } from '../../../servers/kernel/index.js'
import type { Example, Origin } from '../../dataset/example.js'
import { itemAt } from '../item-at.js'
import { oncePer } from '../once-per.js'
import { unresolvedIn } from '../resolving/unresolved.js'
import type { Script } from './conversation-script.js'
import type { StatedStep } from './step.js'

/** A conversation in words, as the objections look at it. */
export interface Candidate {
  readonly example: Example
  readonly steps: readonly StatedStep[]
  readonly script: Script
  readonly open: (environment: SpokenEnvironment) => Session
  readonly catalogue: ReadonlyMap<string, SpokenEnvironment>
  /** Whether a phrase means a value to a reader who did not write the phrase. */
  readonly denotes: (phrase: string, value: Json, today: string) => boolean
  readonly today: string
}

/** A listener who was not there when they were made finds by every reference what the ground truth uses. */
export function referencesAreUnderstood({ example, catalogue }: Candidate): boolean {
  return unresolvedIn(example, catalogue).length === 0
}

/** The parts of a candidate in which arguments are traced. Of the steps, these are only the results. */
export interface Traced extends Pick<Candidate, 'example' | 'denotes' | 'today'> {
  readonly steps: readonly Pick<StatedStep, 'output'>[]
}

/**
 * Returns whether every argument can be read somewhere before its call. The place is a user turn that has been said, an earlier result, or
 * the system message. Secrets (`sensitive`) have no other source either.
 */
export function argumentsAreTraceable({ example, steps, denotes, today }: Traced): boolean {
  const { task, origins, exchanges } = example
  return task.groundTruth.every((call, i) =>
    Object.entries(call.arguments).every(([field, value]) => {
      const origin = origins[i]?.[field]
      if (!origin) return false
      const user = exchanges.slice(0, call.turn + 1).map((exchange) => exchange.user)
      return isReadable(origin, value, i, { user, steps, system: task.system ?? '', denotes, today })
    }),
  )
}

interface Evidence {
  /** User turns that were said when the call is made. */
  readonly user: readonly string[]
  readonly steps: readonly Pick<StatedStep, 'output'>[]
  readonly system: string
  readonly denotes: Candidate['denotes']
  readonly today: string
}

function isReadable(origin: Origin, value: Json, call: number, evidence: Evidence): boolean {
  const { user, steps, system, denotes, today } = evidence
  switch (origin.from) {
    case 'user':
      return (user[origin.turn]?.includes(origin.phrase) ?? false) && denotes(origin.phrase, value, today)
    case 'result':
      return origin.call < call && holds(itemAt(steps, origin.call).output, value)
    case 'context':
      return system.includes(origin.phrase) && denotes(origin.phrase, value, today)
  }
}

/** Whether a result shows a value, anywhere in it. */
function holds(result: Json, value: Json): boolean {
  if (result === value) return true
  if (typeof result !== 'object' || result === null) return false
  return Object.values(result).some((part) => holds(part as Json, value))
}

/** Executes calls in fresh sessions. @returns their outputs, `null` for a call that failed */
function execute(
  calls: readonly { readonly environment: SpokenEnvironment; readonly name: string; readonly args: JsonObject }[],
  open: Candidate['open'],
): { outputs: (Readonly<Record<string, unknown>> | null)[]; states: Map<SpokenEnvironment, string> } {
  const sessionOf = oncePer(open)
  const outputs = calls.map(({ environment, name, args }) => {
    const result = sessionOf(environment).call(name, args)
    return result.ok ? result.output : null
  })
  return { outputs, states: new Map(calls.map(({ environment }) => [environment, sessionOf(environment).stateHash()])) }
}

const callsOf = (steps: readonly StatedStep[]) =>
  steps.map(({ environment, tool, args }) => ({ environment, name: tool.name, args }))

export function replays({ steps, open }: Candidate): boolean {
  const { outputs } = execute(callsOf(steps), open)
  return outputs.every(
    (output, i) => output !== null && JSON.stringify(output) === JSON.stringify(itemAt(steps, i).output),
  )
}

export function earnsTheMaximum({ example: { task }, catalogue }: Candidate): boolean {
  const log = task.groundTruth.map(({ name, arguments: args }) => ({ name, arguments: args, ok: true }))
  const { total } = PAPER.score(exampleOf(task, toolsetOf(task, catalogue)), log)
  return total === PAPER.maximum.calls && solvedExactly(task.groundTruth, log)
}

/**
 * Returns whether the absence of any call has an effect. Without the call, the environments end in another state, a later call fails or
 * lacks a value, or a question of the user stays unanswered.
 */
export function everyCallIsNeeded({ steps, script, open }: Candidate): boolean {
  const whole = execute(callsOf(steps), open)
  return steps.every((step, i) => {
    const answers = step.tool.annotations.readOnly && !script.silent.has(i)
    const feeds = steps.some(({ bindings }) => bindings.some(({ source }) => source === i))
    if (answers || feeds) return true
    const rest = steps.filter((_, j) => j !== i)
    const without = execute(callsOf(rest), open)
    if (without.outputs.includes(null)) return true
    return [...whole.states].some(([environment, state]) => without.states.get(environment) !== state)
  })
}
