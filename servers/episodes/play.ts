import {
  type AssistantMessage,
  type CallEnvironment,
  callOf,
  createEpisodeDriver,
  DEFAULT_LIMITS,
  type DriverEnd,
  type DriverParts,
  type EpisodeDriver,
  type MessageInterpreter,
  offeredAt,
  openSessions,
  type ParsedCall,
  type Reaction,
  type RoutedTool,
  statedTurns,
  type Task,
  toolsetOf,
  type UnderstoodMessage,
} from '../../rollout/episode/index.js'
import type { LoggedCall, RewardBreakdown, RewardPreset } from '../../rollout/reward/index.js'
import { responseText, type Session } from '../kernel/index.js'
import type { TaskRuntime } from './episode-runtime.js'
import { unreadableCall } from './message.js'

/** A message before the assistant's first one. */
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

/** A task in progress: its environments, messages, calls and reward. A task and the assistant's messages determine it. */
export interface Episode {
  readonly task: Task
  /** Tools that are offered now. The task may hide tools or enum values, and user turns may add tools. */
  readonly offered: readonly RoutedTool[]
  /** Opening messages for the assistant. */
  readonly opening: readonly Message[]
  /** The assistant's messages so far, with the recorded decisions of a user simulator. */
  readonly actions: readonly AssistantMessage[]
  readonly calls: readonly LoggedCall[]
  /** Sessions of the environments, by name. */
  readonly sessions: ReadonlyMap<string, Session>
  readonly isOver: boolean
  /** The reason why the episode is over; null before. */
  readonly end: DriverEnd | null
  /**
   * Carries out a message. Calls of this method must not overlap.
   * @param signal  ends the wait for the user simulator; the episode is then unchanged
   * @throws EpisodeError `episode_over`, `not_asking`; EnvironmentDefect if the environment has a defect; the signal's reason
   */
  act(message: AssistantMessage, signal?: AbortSignal): Promise<Reaction>
  /** Scores all messages so far. @param reward  default: the preset of the episode */
  score(reward?: RewardPreset): Scored
  /** Returns an independent copy in the same state. */
  fork(): Episode
  /**
   * Plays other messages in a new episode, up to its end. Equal messages in the same turn keep the recorded decision of the user simulator.
   * @throws the errors of `act`
   */
  playAgain(messages: readonly AssistantMessage[]): Promise<Episode>
}

export interface EpisodeParts {
  readonly runtime: TaskRuntime
  readonly reward: RewardPreset
  /** Messages to replay first, for example to continue an episode of another process. Recorded simulator decisions are kept. */
  readonly actions?: readonly AssistantMessage[]
  /** User simulator; default: embedded rules. */
  readonly simulator?: MessageInterpreter
  /** Limits of a run; default: those of a run that sets none. */
  readonly limits?: DriverParts['limits']
}

/**
 * Opens an episode of a task.
 * @throws EpisodeError `bad_task`, `episode_over` if the task ends before the last message, `not_asking`
 */
export async function openEpisode(
  task: Task,
  { runtime, reward, actions = [], simulator, limits = DEFAULT_LIMITS }: EpisodeParts,
): Promise<Episode> {
  const offered = toolsetOf(task, runtime.catalogue)
  if (reward.needsFacts) runtime.statesAtEnd(task)
  const sessions = openSessions(task, runtime.catalogue, runtime.seedStates)
  const driver = createEpisodeDriver({
    ...{ task, offered, limits, sessions },
    turns: statedTurns(task, offered),
    expected: () => runtime.statesAtEnd(task),
    callEnvironment: callsIn(sessions),
    interpreter: simulator,
  })
  const parts = { runtime, reward, limits, ...(simulator ? { simulator } : {}) }
  const episode = episodeOf({ task, offered, parts }, { driver, sessions, actions: [] })
  for (const message of actions) await episode.act(message)
  return episode
}

/** Returns a function that makes calls in sessions. */
const callsIn =
  (sessions: ReadonlyMap<string, Session>): CallEnvironment =>
  ({ environment, name }, args) => {
    const result = sessions.get(environment)!.call(name, args)
    return { ok: result.ok, text: responseText(result) }
  }

interface Frame {
  readonly task: Task
  readonly offered: readonly RoutedTool[]
  readonly parts: Omit<EpisodeParts, 'actions'>
}

interface Played {
  readonly driver: EpisodeDriver
  readonly sessions: ReadonlyMap<string, Session>
  readonly actions: readonly AssistantMessage[]
}

function episodeOf(frame: Frame, { driver, sessions, ...played }: Played): Episode {
  const { task, offered, parts } = frame
  const actions = [...played.actions]
  return {
    task,
    get offered() {
      return offeredAt(offered, driver.turn)
    },
    opening: openingOf(task),
    actions,
    calls: driver.calls,
    sessions,
    get isOver() {
      return driver.end !== null
    },
    get end() {
      return driver.end
    },
    async act(message, signal = new AbortController().signal) {
      const readable = { ...message, calls: message.calls.map(readableOr) }
      const before = driver.understood.length
      const reaction = await driver.act(readable, signal)
      const understood = driver.understood[before]
      // A decision is recorded only where a replay could not repeat it.
      actions.push(understood && parts.simulator ? { ...readable, understood } : readable)
      return reaction
    },
    score(reward = parts.reward) {
      return {
        preset: reward.name,
        ...driver.score(reward),
        solved: driver.solved,
        stateHashes: Object.fromEntries(driver.states()),
      }
    },
    fork() {
      const copies = new Map([...sessions].map(([environment, session]) => [environment, session.fork()]))
      const copy = driver.copy({ sessions: copies, callEnvironment: callsIn(copies) })
      return episodeOf(frame, { driver: copy, sessions: copies, actions })
    },
    async playAgain(messages) {
      const { simulator } = parts
      const keeping = simulator && { simulator: keepingDecisions(actions, simulator) }
      const again = await openEpisode(task, { ...parts, ...keeping })
      for (const message of messages) if (!again.isOver) await again.act(message)
      return again
    },
  }
}

/** Returns the call, or an unreadable call if its name or arguments exceed the limits of a readable one. */
const readableOr = (call: ParsedCall): ParsedCall =>
  call.malformed ? call : (callOf(call.name, call.arguments) ?? unreadableCall(call.name))

/** Returns a user simulator that repeats its recorded decisions about the same texts, in order. */
function keepingDecisions(actions: readonly AssistantMessage[], simulator: MessageInterpreter): MessageInterpreter {
  const recorded = actions.flatMap(({ text, understood }): [string, UnderstoodMessage][] =>
    understood ? [[text, understood]] : [],
  )
  return {
    name: simulator.name,
    async understand(message, signal) {
      const at = recorded.findIndex(([text]) => text.startsWith(message.text))
      return at < 0 ? simulator.understand(message, signal) : recorded.splice(at, 1)[0]![1]
    },
  }
}

/** Returns the opening messages of a task: the system message, if any, and the first user turn. */
export const openingOf = ({ system, turns }: Task): Message[] => [
  ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
  { role: 'user', content: turns[0]! },
]
