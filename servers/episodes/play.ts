import {
  askingMessage,
  callOf,
  DEFAULT_LIMITS,
  digestsOf,
  exampleOf,
  executeCall,
  hashesOf,
  INITIAL_USER_STATE,
  type MessageInterpreter,
  offeredAt,
  openSessions,
  type RoutedTool,
  replyOf,
  statedTurns,
  type Task,
  toolsetOf,
  type UnderstoodMessage,
  type UserState,
  understoodByRules,
} from '../../rollout/episode/index.js'
import {
  type AssistantText,
  type JsonObject,
  type LoggedCall,
  type RewardBreakdown,
  type RewardPreset,
  type RolloutFacts,
  solvedExactly,
} from '../../rollout/reward/index.js'
import { responseText, type Session, type ToolResponse } from '../kernel/index.js'
import type { TaskRuntime } from './episode-runtime.js'
import { EpisodeServerError } from './errors.js'

/** Action of an assistant. A task and a sequence of actions determine an episode. */
export type Action =
  | { readonly type: 'call'; readonly name: string; readonly arguments: JsonObject }
  /** A malformed call. It counts as a call, as in training. */
  | { readonly type: 'unreadable'; readonly raw: string }
  /**
   * A message to the user without calls. The user's next turn or the end of the episode follows.
   * `understood`: recorded decision of a user simulator about the message, so that a replay needs no simulator.
   */
  | { readonly type: 'say'; readonly text: string; readonly understood?: UnderstoodMessage }

/** Outcome of an action. */
export type Outcome =
  | ({ readonly type: 'result' } & ToolResponse)
  /** `brought`: tools that the turn adds. `text` describes the added tools. */
  | { readonly type: 'user'; readonly text: string; readonly brought?: readonly RoutedTool[] }
  | { readonly type: 'end' }

export interface Message {
  readonly role: 'system' | 'user'
  readonly content: string
}

export interface Scored extends RewardBreakdown {
  readonly preset: string
  /** True if every ground-truth call was made with its arguments, in the required order. */
  readonly solved: boolean
  /** SHA-256 (hex) of the current state of each environment, by its name. */
  readonly stateHashes: Readonly<Record<string, string>>
}

/** A task in progress: its environments, messages, calls and reward. */
export interface Episode {
  readonly task: Task
  /** Tools that are offered now. The task may hide tools or enum values, and user turns may add tools. */
  readonly offered: readonly RoutedTool[]
  /** Opening messages for the assistant. */
  readonly opening: readonly Message[]
  readonly actions: readonly Action[]
  readonly calls: readonly LoggedCall[]
  /** Sessions of the environments, by name. */
  readonly sessions: ReadonlyMap<string, Session>
  /** True if the user has no further turn or the call limit is reached. */
  readonly isOver: boolean
  /**
   * Carries out an action. Calls of this method must not overlap.
   * @param signal  ends the wait for the user simulator; the episode is then unchanged
   * @throws EpisodeServerError `episode_over`, `bad_request`; EnvironmentDefect if the environment has a defect; the signal's reason
   */
  act(action: Action, signal?: AbortSignal): Promise<Outcome>
  /** Scores all actions so far. @param reward  default: the preset of the episode */
  score(reward?: RewardPreset): Scored
  /** Returns an independent copy in the same state. */
  fork(): Episode
}

/** Calls after which an episode is over. The reward's efficiency has no lower bound, so the runtime bounds the calls. */
const MAX_CALLS = DEFAULT_LIMITS.maxCalls

interface Played {
  readonly sessions: ReadonlyMap<string, Session>
  readonly actions: readonly Action[]
  readonly calls: readonly LoggedCall[]
  /** Index of the user turn of each call. */
  readonly madeIn: readonly number[]
  /** Result of each call. */
  readonly results: readonly string[]
  readonly said: readonly AssistantText[]
  readonly user: UserState
}

export interface EpisodeParts {
  readonly runtime: TaskRuntime
  readonly reward: RewardPreset
  /** Actions to replay first, for example to continue an episode of another process. Recorded simulator decisions are kept. */
  readonly actions?: readonly Action[]
  /** User simulator; default: embedded rules. */
  readonly simulator?: MessageInterpreter
}

/**
 * Opens an episode of a task.
 * @throws EpisodeError `bad_task`; EpisodeServerError `episode_over` if the task ends before the last action, `bad_request`
 */
export async function openEpisode(
  task: Task,
  { runtime, reward, actions = [], simulator }: EpisodeParts,
): Promise<Episode> {
  const offered = toolsetOf(task, runtime.catalogue)
  if (reward.needsFacts) runtime.statesAtEnd(task)
  const sessions = openSessions(task, runtime.catalogue, runtime.seedStates)
  const episode = episodeOf(
    { task, offered, reward, runtime, simulator },
    { sessions, actions: [], calls: [], madeIn: [], results: [], said: [], user: INITIAL_USER_STATE },
  )
  for (const action of actions) await episode.act(action)
  return episode
}

interface Frame {
  readonly task: Task
  readonly offered: readonly RoutedTool[]
  readonly reward: RewardPreset
  readonly runtime: TaskRuntime
  readonly simulator: MessageInterpreter | undefined
}

function episodeOf(frame: Frame, { sessions, ...played }: Played): Episode {
  const { task, offered, runtime, simulator } = frame
  const [actions, calls, madeIn] = [[...played.actions], [...played.calls], [...played.madeIn]]
  const [results, said] = [[...played.results], [...played.said]]
  let { user } = played
  const stated = { ...task, turns: statedTurns(task, offered) }
  const isOver = (): boolean => user.turn >= task.turns.length || calls.length >= MAX_CALLS

  const call = async (action: Exclude<Action, { type: 'say' }>): Promise<Outcome> => {
    const parsed = (action.type === 'call' ? callOf(action.name, action.arguments) : null) ?? {
      malformed: true,
      raw: action.type === 'call' ? action.name : action.raw,
    }
    const { entry, payload } = await executeCall(parsed, offered, user.turn, ({ environment, name }, args) => {
      const result = sessions.get(environment)!.call(name, args)
      return { ok: result.ok, text: responseText(result) }
    })
    calls.push(entry)
    madeIn.push(user.turn)
    results.push(payload)
    return { type: 'result', ok: entry.malformed !== true && entry.ok, text: payload }
  }

  const understand = async (
    said: Extract<Action, { type: 'say' }>,
    signal: AbortSignal,
  ): Promise<UnderstoodMessage | null> => {
    const message = askingMessage(stated, user.turn, () => said.text)
    if (!message) {
      if (!said.understood) return null
      throw new EpisodeServerError(
        'bad_request',
        'the action has a user simulator decision ("understood"), but its message has nothing to ask for: remove the field',
      )
    }
    return said.understood ?? (simulator ? simulator.understand(message, signal) : understoodByRules(message))
  }

  return {
    task,
    get offered() {
      return offeredAt(offered, user.turn)
    },
    opening: openingOf(task),
    actions,
    calls,
    sessions,
    get isOver() {
      return isOver()
    },
    async act(action, signal = new AbortController().signal) {
      if (isOver()) throw new EpisodeServerError('episode_over', whyOver(task, user.turn))
      if (action.type !== 'say') {
        actions.push(action)
        return call(action)
      }
      const understood = await understand(action, signal)
      // A decision is recorded only where a replay could not repeat it.
      actions.push({
        type: 'say',
        text: action.text,
        ...(understood && (simulator || action.understood) ? { understood } : {}),
      })
      const { state, isAnswer, says } = replyOf(stated, user, understood)
      said.push({ turn: user.turn, calls: calls.length, isAnswer, text: action.text })
      const before = user.turn
      user = state
      if (says === undefined) return { type: 'end' }
      const brought = offered.filter(({ from = 0 }) => from > before && from <= user.turn)
      return { type: 'user', text: says, ...(brought.length > 0 ? { brought } : {}) }
    },
    score(reward = frame.reward) {
      const states = hashesOf(sessions)
      const facts = (): RolloutFacts => ({
        states: digestsOf(runtime.statesAtEnd(task), states),
        turns: madeIn,
        results,
        said,
      })
      return {
        preset: reward.name,
        ...reward.score(exampleOf(task, offered), calls, ...(reward.needsFacts ? [facts()] : [])),
        solved: solvedExactly(task.groundTruth, calls),
        stateHashes: Object.fromEntries(states),
      }
    },
    fork: () =>
      episodeOf(frame, {
        sessions: new Map([...sessions].map(([environment, session]) => [environment, session.fork()])),
        actions,
        calls,
        madeIn,
        results,
        said,
        user,
      }),
  }
}

/** Returns the opening messages of a task: the system message, if any, and the first user turn. */
export const openingOf = ({ system, turns }: Task): Message[] => [
  ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
  { role: 'user', content: turns[0]! },
]

const whyOver = ({ turns }: Task, turn: number): string =>
  turn >= turns.length
    ? 'the user has no further turn: open another episode'
    : `the episode has reached the limit of ${MAX_CALLS} calls: open another episode`
