import {
  askingMessage,
  callOf,
  DEFAULT_LIMITS,
  digestsOf,
  exampleOf,
  executeCall,
  FIRST_WORDS,
  hashesOf,
  type Listener,
  offeredAt,
  openSessions,
  type RoutedTool,
  replyOf,
  statedTurns,
  type Task,
  toolsetOf,
  type Understood,
  type UserState,
  understoodByRules,
} from '../../rollout/episode/index.js'
import {
  type JsonObject,
  type LoggedCall,
  type RewardBreakdown,
  type RewardPreset,
  type RolloutFacts,
  type Saying,
  solvedExactly,
} from '../../rollout/reward/index.js'
import { responseText, type Session, type ToolResponse } from '../kernel/index.js'
import type { TaskRuntime } from './episode-runtime.js'
import { EpisodeServerError } from './errors.js'

/** What an assistant does in an episode. Its actions, in order, are all that an episode is beside its task. */
export type Action =
  | { readonly type: 'call'; readonly name: string; readonly arguments: JsonObject }
  /** A call that the trainer could not read; it counts, as it does in training. */
  | { readonly type: 'unreadable'; readonly raw: string }
  /**
   * A message to the user that makes no call: what the user says next follows, or the end.
   * `heard`: what a listener made of it where it had to ask for something, so that it need not be asked again.
   */
  | { readonly type: 'say'; readonly text: string; readonly understood?: Understood }

/** What a call or a message came to. */
export type Outcome =
  | ({ readonly type: 'result' } & ToolResponse)
  /** `brought`: tools that are on offer from now on; the text tells them too. */
  | { readonly type: 'user'; readonly text: string; readonly brought?: readonly RoutedTool[] }
  | { readonly type: 'end' }

export interface Message {
  readonly role: 'system' | 'user'
  readonly content: string
}

export interface Scored extends RewardBreakdown {
  readonly preset: string
  /** Every call of the ground truth was made with its arguments, in its order. */
  readonly solved: boolean
  /** SHA-256 (hex) of each world's state now. */
  readonly stateHashes: Readonly<Record<string, string>>
}

/** One task in play: its worlds, what has been said and called, and what it is worth so far. */
export interface Episode {
  readonly task: Task
  /** The tools as they are offered now: some hidden, some without the values of their enums, some that the user has brought. */
  readonly offered: readonly RoutedTool[]
  /** What the assistant reads first. */
  readonly opening: readonly Message[]
  readonly actions: readonly Action[]
  readonly calls: readonly LoggedCall[]
  /** The worlds as they are now, by name. */
  readonly sessions: ReadonlyMap<string, Session>
  /** The user has nothing more to say, or the most calls are made. */
  readonly isOver: boolean
  /**
   * One after another.
   * @param signal  ends the wait for a listener, before which nothing has changed
   * @throws EnvironmentError `episode_over`, `bad_request`; EnvironmentDefect when the world itself is broken; the signal's reason
   */
  act(action: Action, signal?: AbortSignal): Promise<Outcome>
  /** Of everything so far, by the reward that the episode was opened with, or by another. */
  score(reward?: RewardPreset): Scored
  /** An independent copy in the same state. */
  fork(): Episode
}

/** Calls after which an episode is over: efficiency has no lower bound, so the runtime must bound them. */
const MAX_CALLS = DEFAULT_LIMITS.maxCalls

interface Played {
  readonly sessions: ReadonlyMap<string, Session>
  readonly actions: readonly Action[]
  readonly calls: readonly LoggedCall[]
  /** Index of the user turn in which each was made. */
  readonly madeIn: readonly number[]
  /** What each was answered with. */
  readonly results: readonly string[]
  readonly said: readonly Saying[]
  readonly user: UserState
}

export interface EpisodeParts {
  readonly runtime: TaskRuntime
  readonly reward: RewardPreset
  /** Taken again first, so that an episode can go on in another process; what was heard in them stays as it is. */
  readonly actions?: readonly Action[]
  /** Hears what the user is asked, in place of the rules. */
  readonly listener?: Listener
}

/**
 * Opens a task.
 * @throws EpisodeError `bad_task`; EnvironmentError `episode_over` when there are more actions than it has room for, `bad_request`
 */
export async function openEpisode(
  task: Task,
  { runtime, reward, actions = [], listener }: EpisodeParts,
): Promise<Episode> {
  const offered = toolsetOf(task, runtime.catalogue)
  if (reward.needsFacts) runtime.statesAtEnd(task)
  const sessions = openSessions(task, runtime.catalogue, runtime.seedStates)
  const episode = episodeOf(
    { task, offered, reward, runtime, listener },
    { sessions, actions: [], calls: [], madeIn: [], results: [], said: [], user: FIRST_WORDS },
  )
  for (const action of actions) await episode.act(action)
  return episode
}

interface Frame {
  readonly task: Task
  readonly offered: readonly RoutedTool[]
  readonly reward: RewardPreset
  readonly runtime: TaskRuntime
  readonly listener: Listener | undefined
}

function episodeOf(frame: Frame, { sessions, ...played }: Played): Episode {
  const { task, offered, runtime, listener } = frame
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
  ): Promise<Understood | null> => {
    const message = askingMessage(stated, user.turn, () => said.text)
    if (!message) {
      if (!said.understood) return null
      throw new EpisodeServerError('bad_request', 'nothing had to be asked for there, so nothing was heard')
    }
    return said.understood ?? (listener ? listener.understand(message, signal) : understoodByRules(message))
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
      // By whom is said where it cannot be found out again.
      actions.push({
        type: 'say',
        text: action.text,
        ...(understood && (listener || action.understood) ? { understood } : {}),
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

/** What the assistant of a task reads first. */
export const openingOf = ({ system, turns }: Task): Message[] => [
  ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
  { role: 'user', content: turns[0]! },
]

const whyOver = ({ turns }: Task, turn: number): string =>
  turn >= turns.length ? 'the user has said all there is' : `an episode has at most ${MAX_CALLS} calls`
