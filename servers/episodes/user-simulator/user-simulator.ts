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

/** Why a language model did not decide. */
export type UnderstandingProblem = ChatFailure['kind'] | UnsentRequest['kind'] | Objection

export interface UserSimulatorOptions {
  readonly source: Source
  readonly budget: Budget
  readonly limits?: Partial<UserSimulatorLimits>
  /** Told of each message that the rules decided in the model's place. */
  readonly onProblems?: (problems: readonly UnderstandingProblem[]) => void
}

/** What a user model did so far. */
export interface UserSimulatorReport extends Spending {
  readonly model: string
  /** Messages that it heard. */
  readonly messages: number
  /** Of these, those in which it heard the question that was due. */
  readonly asked: number
  /** Those that the rules decided in its place. */
  readonly byRules: number
  /** Failed requests and useless replies, by their kinds; those that a second request made good among them. */
  readonly problems: Readonly<Partial<Record<UnderstandingProblem, number>>>
}

/** A language model as the ears of scripted users. */
export interface UserSimulator extends MessageInterpreter {
  report(): UserSimulatorReport
  /** Ends what is under way; what waits for a decision throws `closed`. */
  close(): Promise<void>
}

/**
 * Opens the model: asks a server for its models unless one is named, or loads a model file.
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
      stopped.abort(new EpisodeServerError('closed', 'the user model was closed'))
      closing ??= model.close()
      return closing
    },
  }
}

/** The same message is asked about with the same seeds, wherever it stands. */
function seedOf({ taskId, turn }: AskingMessage, attempt: number): number {
  return deriveSeed('prove/user/1', Number.parseInt(taskId.slice(0, 8), 16), turn, attempt) % 2 ** 31
}
