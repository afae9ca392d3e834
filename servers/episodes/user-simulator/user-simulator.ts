import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import {
  type Budget,
  budgetedChat,
  ChatFailure,
  type ChatModel,
  isPassing,
  openChat,
  type Source,
  type Spending,
  type UnsentRequest,
} from '../../../rollout/chat/index.js'
import {
  type AskingMessage,
  type MessageInterpreter,
  type UnderstoodMessage,
  understoodByRules,
} from '../../../rollout/episode/index.js'
import { deriveSeed } from '../../kernel/index.js'
import { EpisodeServerError } from '../errors.js'
import { USER_SIMULATOR_LIMITS, type UserSimulatorLimits } from './limits.js'
import { decisionIn, type Objection, requestFor } from './prompt.js'

/** Reason why the model gave no decision. */
export type UnderstandingProblem = ChatFailure['kind'] | UnsentRequest['kind'] | Objection

export interface UserSimulatorOptions {
  readonly source: Source
  readonly budget: Budget
  readonly limits?: Partial<UserSimulatorLimits>
  /** Called for each message that the embedded rules decide instead of the model. */
  readonly onProblems?: (problems: readonly UnderstandingProblem[]) => void
}

/** Statistics of a user simulator. */
export interface UserSimulatorReport extends Spending {
  readonly model: string
  /** Number of messages with a decision. */
  readonly messages: number
  /** Number of messages in which the model found the due question. */
  readonly asked: number
  /** Number of messages that the embedded rules decided. */
  readonly byRules: number
  /** Number of failed requests and unusable replies by kind, including those before a successful retry. */
  readonly problems: Readonly<Partial<Record<UnderstandingProblem, number>>>
}

/** User simulator: a language model that decides what messages ask scripted users. */
export interface UserSimulator extends MessageInterpreter {
  /** Returns the statistics so far. */
  report(): UserSimulatorReport
  /** Cancels all requests and closes the model. Pending decisions throw `closed`. */
  close(): Promise<void>
}

/**
 * Opens a user simulator: connects to a server or loads a model file. Without a model name, the server lists its models.
 * @throws ChatError; the signal's reason when it aborts
 */
export async function openUserSimulator(options: UserSimulatorOptions, signal: AbortSignal): Promise<UserSimulator> {
  const limits = { ...USER_SIMULATOR_LIMITS, ...options.limits }
  return userSimulatorOf(await openChat(options.source, limits.timeoutMs, signal), options, limits)
}

function userSimulatorOf(
  model: ChatModel,
  { source, budget, onProblems }: UserSimulatorOptions,
  limits: UserSimulatorLimits,
): UserSimulator {
  const chat = budgetedChat(model, budget, limits.failuresInARow)
  const place = pLimit(source.kind === 'file' ? 1 : limits.requestsAtATime)
  const counts: Partial<Record<UnderstandingProblem, number>> = {}
  const done = { messages: 0, asked: 0, byRules: 0 }
  const stopped = new AbortController()
  let closing: Promise<void> | undefined

  const ask = async (message: AskingMessage, signal: AbortSignal): Promise<UnderstoodMessage> => {
    const problems: UnderstandingProblem[] = []
    const note = (kind: UnderstandingProblem): void => {
      problems.push(kind)
      counts[kind] = (counts[kind] ?? 0) + 1
    }
    while (problems.length < limits.attempts) {
      signal.throwIfAborted()
      const seed = seedOf(message, problems.length)
      const reply = await chat.ask(requestFor(message, { maxTokens: limits.replyTokens, seed }), signal)
      if ('text' in reply) {
        const decision = decisionIn(reply)
        if ('asks' in decision) return { asked: decision.asks === 'missing', by: model.name }
        note(decision.objection)
        continue
      }
      note(reply.kind)
      if (!(reply instanceof ChatFailure && isPassing(reply))) break
      if (problems.length < limits.attempts)
        await pause(Math.min(reply.retryAfterMs ?? limits.pauseMs, limits.longestPauseMs), undefined, { signal })
    }
    onProblems?.(problems)
    return { ...understoodByRules(message), problems }
  }

  return {
    name: model.name,
    async understand(message, outer) {
      const signal = AbortSignal.any([outer, stopped.signal])
      const understood = await place(() => ask(message, signal))
      done.messages++
      if (understood.problems) done.byRules++
      else if (understood.asked) done.asked++
      return understood
    },
    report: () => ({ model: model.name, ...done, ...chat.spent(), problems: { ...counts } }),
    close() {
      stopped.abort(new EpisodeServerError('closed', 'the user simulator was closed'))
      closing ??= model.close()
      return closing
    },
  }
}

/** Returns the seed of a request. It depends on the task, the turn and the attempt only. */
function seedOf({ taskId, turn }: AskingMessage, attempt: number): number {
  return deriveSeed('prove/user/1', Number.parseInt(taskId.slice(0, 8), 16), turn, attempt) % 2 ** 31
}
