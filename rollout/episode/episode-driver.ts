import type { Session, ToolResponse } from '../../servers/kernel/index.js'
import {
  type AssistantText,
  type LoggedCall,
  type RewardBreakdown,
  type RewardPreset,
  type RolloutFacts,
  solvedExactly,
} from '../reward/index.js'
import { digestsOf, hashesOf } from './environment-states.js'
import type { PreparedTask } from './episode-runtime.js'
import { EpisodeError } from './errors.js'
import { type CallEnvironment, executeCall } from './execute-call.js'
import type { EpisodeLimits } from './limits.js'
import type { EpisodeEnd } from './rollout.js'
import { INITIAL_USER_STATE, replyOf, type UserReply, type UserState } from './scripted-user.js'
import type { Task } from './task.js'
import type { ParsedCall } from './tool-call-format.js'
import { exampleOf, type RoutedTool } from './toolset.js'
import {
  askingMessage,
  type MessageInterpreter,
  type UnderstoodMessage,
  understoodByRules,
} from './understood-message.js'

/** One message of the assistant. A message without calls ends the assistant's turn. */
export interface AssistantMessage {
  /** The text for the user, without calls and thoughts. */
  readonly text: string
  /** The calls in order, readable or not. */
  readonly calls: readonly ParsedCall[]
  /** Whether the next message continues this one with further calls. A message with a text, or without calls, continues none. */
  readonly more?: true
  /** Recorded interpretation of a message that had to ask for something. A replay with it needs no user simulator. */
  readonly understood?: UnderstoodMessage
}

/** The reason why the driver ends an episode. */
export type DriverEnd = Extract<EpisodeEnd, 'finished' | 'turn_limit' | 'call_limit'>

/** The reactions to a message. */
export interface Reaction {
  /** Results of the calls, in order. The call that exceeds the limit has no result, and neither have the calls after it. */
  readonly results: readonly ToolResponse[]
  /** The user's next turn, with the tools that it adds; null after a message with calls, and at the end. */
  readonly user: string | null
  /** The tools that this turn of the user adds. */
  readonly added: readonly RoutedTool[]
}

export interface DriverParts extends Pick<PreparedTask, 'offered' | 'turns' | 'expected'> {
  readonly task: Task
  readonly limits: Pick<EpisodeLimits, 'maxAssistantTurns' | 'maxCalls'>
  readonly sessions: ReadonlyMap<string, Session>
  readonly callEnvironment: CallEnvironment
  /** User simulator, which interprets messages instead of the rules. */
  readonly interpreter?: MessageInterpreter | undefined
}

/**
 * State machine of one episode: the calls, the scripted user, the limits and the reward. It drives rollouts and their replays, where the
 * messages come from tokens, and served episodes, where they come from a client. So both get the same results and rewards.
 */
export interface EpisodeDriver {
  readonly end: DriverEnd | null
  /** Index of the current user turn; the number of turns after the last one. */
  readonly turn: number
  readonly calls: readonly LoggedCall[]
  /** The environment's answer to each call: JSON. */
  readonly responses: readonly string[]
  /** Interpretations of the messages that had to ask for something, in order. */
  readonly understood: readonly UnderstoodMessage[]
  readonly solved: boolean
  /**
   * Carries out the assistant's next message. Calls of this method must not overlap.
   * @throws EpisodeError `episode_over`, `not_asking`, and the errors of the interpreter: the state is then unchanged. After an error of
   *   `callEnvironment` the episode is void
   */
  act(message: AssistantMessage, signal: AbortSignal): Promise<Reaction>
  /** Returns the state hashes of the environments, by name. */
  states(): ReadonlyMap<string, string>
  /** Scores all messages so far. @throws EpisodeError `bad_task` if the reward needs the ground truth's final state and a call of it fails */
  score(reward: RewardPreset): RewardBreakdown
  /** Returns an independent copy that continues in other sessions of the same state. */
  copy(onto: Pick<DriverParts, 'sessions' | 'callEnvironment'>): EpisodeDriver
}

/** A message of the assistant in the form that is scored later: reading a text costs more than keeping its message. */
interface SaidMessage extends Omit<AssistantText, 'text'> {
  readonly message: Pick<AssistantMessage, 'text'>
}

interface Progress {
  readonly calls: readonly LoggedCall[]
  /** Index of the user turn of each call. */
  readonly turns: readonly number[]
  readonly responses: readonly string[]
  readonly said: readonly SaidMessage[]
  readonly understood: readonly UnderstoodMessage[]
  readonly user: UserState
  /** Number of messages, each with its continuations. */
  readonly messages: number
  /** Whether the last message can be continued. */
  readonly isUnfinished: boolean
  readonly end: DriverEnd | null
}

const BEGINNING: Progress = {
  ...{ calls: [], turns: [], responses: [], said: [], understood: [] },
  ...{ user: INITIAL_USER_STATE, messages: 0, isUnfinished: false, end: null },
}

export const createEpisodeDriver = (parts: DriverParts): EpisodeDriver => driverOf(parts, BEGINNING)

function driverOf(parts: DriverParts, from: Progress): EpisodeDriver {
  const { task, offered, limits, sessions, callEnvironment, interpreter } = parts
  const scripted = { ...task, turns: parts.turns }
  const [calls, turns, responses] = [[...from.calls], [...from.turns], [...from.responses]]
  const [said, understood] = [[...from.said], [...from.understood]]
  let { user, messages, isUnfinished, end } = from
  let states: ReadonlyMap<string, string> | undefined
  const currentStates = (): ReadonlyMap<string, string> => {
    states ??= hashesOf(sessions)
    return states
  }

  const interpret = async (message: AssistantMessage, signal: AbortSignal): Promise<UnderstoodMessage | null> => {
    const asking = askingMessage(scripted, user.turn, () => message.text)
    if (!asking) {
      if (!message.understood) return null
      throw new EpisodeError(
        'not_asking',
        'the message has an interpretation ("understood"), but it had to ask for nothing: remove the field',
      )
    }
    return message.understood ?? (interpreter ? interpreter.understand(asking, signal) : understoodByRules(asking))
  }

  /** Makes the calls until the limit. @returns  their results */
  const make = async (parsed: readonly ParsedCall[], signal: AbortSignal): Promise<ToolResponse[]> => {
    const results: ToolResponse[] = []
    for (const call of parsed) {
      if (calls.length === limits.maxCalls) {
        end = 'call_limit'
        break
      }
      const inEnvironment: Parameters<typeof executeCall>[3] = (tool, args) => callEnvironment(tool, args, signal)
      const { entry, payload } = await executeCall(call, offered, user.turn, inEnvironment, results)
      calls.push(entry)
      turns.push(user.turn)
      responses.push(payload)
      results.push({ ok: entry.malformed !== true && entry.ok, text: payload })
    }
    return results
  }

  /** Ends the current message, after which the assistant may have no further turn. */
  const finish = (): void => {
    isUnfinished = false
    if (end === null && messages >= limits.maxAssistantTurns) end = 'turn_limit'
  }

  const hear = ({ state, says }: UserReply): Pick<Reaction, 'user' | 'added'> => {
    const before = user.turn
    user = state
    if (says === undefined) end = 'finished'
    finish()
    if (says === undefined || end !== null) return { user: null, added: [] }
    return { user: says, added: offered.filter(({ from: since = 0 }) => since > before && since <= user.turn) }
  }

  return {
    get end() {
      return end
    },
    get turn() {
      return user.turn
    },
    ...{ calls, responses, understood },
    get solved() {
      return solvedExactly(task.groundTruth, calls)
    },
    async act(message, signal) {
      const isSpeech = message.calls.length === 0
      const continues = isUnfinished && !isSpeech && message.text === ''
      if (isUnfinished && !continues && messages >= limits.maxAssistantTurns) end = 'turn_limit'
      if (end !== null) throw new EpisodeError('episode_over', whyOver(end, limits))
      const made = isSpeech ? await interpret(message, signal) : null
      const reply = isSpeech ? replyOf(scripted, user, made) : undefined
      if (made) understood.push(made)
      states = undefined
      if (!continues) {
        messages += 1
        said.push({ turn: user.turn, calls: calls.length, isAnswer: reply?.isAnswer === true, message })
      }
      if (reply) return { results: [], ...hear(reply) }
      const results = await make(message.calls, signal)
      if (message.more && end === null) isUnfinished = true
      else finish()
      return { results, user: null, added: [] }
    },
    states: currentStates,
    score(reward) {
      const facts = (): RolloutFacts => ({
        states: digestsOf(parts.expected(), currentStates()),
        turns,
        results: responses,
        said: said.map(({ message, ...when }) => ({ ...when, text: message.text })),
      })
      return reward.score(exampleOf(task, offered), calls, ...(reward.needsFacts ? [facts()] : []))
    },
    copy: (onto) =>
      driverOf(
        { ...parts, ...onto },
        { ...{ calls, turns, responses, said, understood }, ...{ user, messages, isUnfinished, end } },
      ),
  }
}

function whyOver(end: DriverEnd, { maxAssistantTurns, maxCalls }: DriverParts['limits']): string {
  const why = {
    finished: 'the user has no further turn',
    turn_limit: `the assistant has sent ${maxAssistantTurns} messages, the limit of an episode`,
    call_limit: `the episode has reached the limit of ${maxCalls} calls`,
  }
  return `${why[end]}: open another episode`
}
