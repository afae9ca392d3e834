import { type Budget, createAccount, type Spending } from './budget.js'
import type { ChatModel, ChatReply, ChatRequest } from './chat.js'
import { ChatFailure, type Failure } from './errors.js'

/** The reason why a request was not sent. `budget`: requests or tokens are used up. `down`: too many requests failed in a row. */
export interface UnsentRequest {
  readonly kind: 'budget' | 'down'
  /** For people. */
  readonly detail: string
}

/** A language model with a budget, which is disabled after too many failures. */
export interface BudgetedChat {
  readonly name: string
  /** Whether requests are no longer sent. */
  readonly isDown: boolean
  /**
   * Sends one request, once. Several requests may be in progress.
   * @throws the signal's reason when it aborts
   */
  ask(request: ChatRequest, signal: AbortSignal): Promise<ChatReply | ChatFailure | UnsentRequest>
  spent(): Spending
}

/** Kinds of failure after which the server may have done the work. */
const COSTLY: readonly Failure[] = ['timeout', 'connection', 'bad_protocol']

/** Kinds of failure that a retry may cure. */
const PASSING: readonly Failure[] = ['connection', 'timeout', 'rate_limited', 'server_error', 'bad_protocol']

/** Whether a retry may cure a failure. */
export const isPassing = ({ kind }: ChatFailure): boolean => PASSING.includes(kind)

/**
 * Adds a budget and a count of failures to a language model.
 * @param failuresInARow  number of successive failures after which requests are no longer sent
 */
export function budgetedChat(model: ChatModel, budget: Budget, failuresInARow: number): BudgetedChat {
  const account = createAccount(budget)
  let inARow = 0
  let isDown = false
  return {
    name: model.name,
    get isDown() {
      return isDown
    },
    async ask(request, signal) {
      if (isDown) return { kind: 'down', detail: `${model.name} no longer answers` }
      const share = account.reserve(request.system + request.user, request.maxTokens)
      if (!share) return { kind: 'budget', detail: 'the budget of this run is used up' }
      try {
        const reply = await model.complete(request, signal)
        share.settle(reply)
        inARow = 0
        return reply
      } catch (error) {
        const failure = error instanceof ChatFailure ? error : undefined
        share.fail(!failure || COSTLY.includes(failure.kind))
        if (!failure) throw error
        inARow = failure.kind === 'rejected' ? 0 : inARow + 1
        if (failure.kind === 'forbidden' || inARow >= failuresInARow) isDown = true
        return failure
      }
    },
    spent: () => account.spent(),
  }
}
