import { setTimeout as pause } from 'node:timers/promises'
import {
  ChatFailure,
  explainFailure,
  isContextFull,
  isPassing,
  type ToolChatMessage,
  type ToolChatModel,
  type ToolChatReply,
  type ToolChatRequest,
} from '../../rollout/chat/index.js'
import {
  type Attempt,
  type EpisodeSettings,
  type Played,
  type Player,
  playedOf,
  type UnderstoodMessage,
} from '../../rollout/episode/index.js'
import { PAPER } from '../../rollout/reward/index.js'
import type { TaskRuntime } from '../../servers/episodes/episode-runtime.js'
import { readCall } from '../../servers/episodes/message.js'
import { type Episode, openEpisode } from '../../servers/episodes/play.js'
import { EvaluationError } from './errors.js'

/** Pauses between attempts at a request. */
export const RETRIES = {
  /** Requests for one reply, with the first one. */
  attempts: 6,
  /** Pause after the first failure, in milliseconds. It doubles with each further one. */
  pauseMs: 1000,
  /** Longest pause, also if the server asks for more (`Retry-After`). */
  longestPauseMs: 60_000,
} as const

export interface EndpointSettings extends EpisodeSettings {
  /** Most tokens of one reply. */
  readonly maxTokens: number
  readonly retries?: Readonly<Record<keyof typeof RETRIES, number>>
}

/**
 * Creates a player from a model on a server. Tools are passed natively, and calls come back as data. The environments, the scripted user and
 * the rewards are those of every episode.
 * @param modelOf  returns the model of a policy
 */
export function endpointPlayer(
  modelOf: (policy: number) => ToolChatModel,
  runtime: TaskRuntime,
  settings: EndpointSettings,
): Player {
  return {
    play: (policy, attempts, signal) =>
      Promise.all(attempts.map((attempt) => playOne(attempt, modelOf(policy), runtime, settings, signal))),
  }
}

async function playOne(
  { task, seeds, temperature }: Attempt,
  model: ToolChatModel,
  runtime: TaskRuntime,
  { limits, maxTokens, userSimulator, retries = RETRIES }: EndpointSettings,
  signal: AbortSignal,
): Promise<Played> {
  const simulator = userSimulator ? { simulator: userSimulator } : {}
  const episode = await openEpisode(task, { runtime, reward: PAPER, limits, ...simulator })
  const messages: ToolChatMessage[] = [...episode.opening]
  for (let turn = 0; !episode.isOver; turn++) {
    // OpenAI's seeds have 31 bits here, as some servers read a signed integer.
    const request = { messages, tools: episode.offered, maxTokens, seed: seeds[turn]! % 2 ** 31, temperature }
    const reply = await ask(model, request, retries, signal)
    if (reply === 'context_full') break
    messages.push({ role: 'assistant', content: reply.text, calls: reply.calls })
    const answers = await carryOut(reply, episode, signal)
    if (reply.stop === 'length') break
    messages.push(...answers)
  }
  const decided = episode.actions.flatMap(({ understood }): UnderstoodMessage[] => (understood ? [understood] : []))
  const played = playedOf(task, episode.calls, (preset) => episode.score(preset))
  return userSimulator ? { ...played, understood: decided } : played
}

/** Carries out a reply. @returns  the messages that answer it */
async function carryOut(
  { text, calls }: ToolChatReply,
  episode: Episode,
  signal: AbortSignal,
): Promise<ToolChatMessage[]> {
  const message = { text, calls: calls.map((call) => readCall(call.name, call.arguments)) }
  const { results, user } = await episode.act(message, signal)
  if (user !== null) return [{ role: 'user', content: user }]
  return results.map((result, i) => ({ role: 'tool', callId: calls[i]!.id, content: result.text }))
}

/** Sends a request until it is answered. @throws EvaluationError `server_failed`, `server_refused`; the signal's reason */
async function ask(
  model: ToolChatModel,
  request: ToolChatRequest,
  { attempts, pauseMs, longestPauseMs }: Readonly<Record<keyof typeof RETRIES, number>>,
  signal: AbortSignal,
): Promise<ToolChatReply | 'context_full'> {
  for (let failures = 1; ; failures++) {
    try {
      return await model.complete(request, signal)
    } catch (error) {
      if (!(error instanceof ChatFailure)) throw error
      if (isContextFull(error)) return 'context_full'
      const why = explainFailure(error)
      if (!isPassing(error))
        throw new EvaluationError('server_refused', `${model.name}: ${why}${adviceFor(request, why)}`, { cause: error })
      if (failures >= attempts)
        throw new EvaluationError(
          'server_failed',
          `${model.name}: ${why}, ${attempts} times in a row: look at the server, then run the same command again`,
          { cause: error },
        )
      const wanted = error.retryAfterMs ?? pauseMs * 2 ** (failures - 1)
      await pause(Math.min(wanted, longestPauseMs), undefined, { signal })
    }
  }
}

const adviceFor = ({ temperature }: ToolChatRequest, why: string): string =>
  why.includes('temperature')
    ? `: it takes no temperature ${temperature}; measure it with ${temperature === 0 ? '--no-greedy' : '--temperature 1'}`
    : ': change the options of the server or of this command'
